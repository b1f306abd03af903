#!/usr/bin/env bash
# Debian's PHPUnit.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need phpunit php
p="phpunit --do-not-cache-result"
readers_log testdox "$p --testdox tests"
readers_log testdox-colour "$p --testdox --colors=always tests"
readers_log testdox-verbose "$p --testdox -v tests"
readers_log dots "$p tests"
readers_log verbose "$p -v tests"
readers_log debug "$p --debug -v tests"
readers_log debug-short "$p --debug tests"
readers_log forge "$p --testdox ends/ForgeTest.php"
readers_log forge-debug "$p --debug -v ends/ForgeTest.php"
readers_log forge-junit "$p --log-junit o.xml ends/ForgeTest.php" o.xml
readers_log junit "$p --log-junit o.xml tests" o.xml
readers_log small-testdox "$p --testdox small"
readers_log small-dots "$p small"
readers_log small-debug "$p --debug small"
readers_log leaves "$p --testdox ends/LeavesTest.php"
readers_log leaves-debug "$p --debug ends/LeavesTest.php"
readers_log killed "$p --testdox ends/KilledTest.php"
readers_log hangs "timeout 5 $p --testdox ends/HangsTest.php"
readers_log load "$p --testdox ends/LoadTest.php"
readers_log forged "$p --testdox ends/ForgedTest.php"
readers_log none "$p --testdox --filter nothing small"
readers_log two-runs "$p --testdox small; $p --testdox --filter testOne small"
