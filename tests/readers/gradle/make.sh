#!/usr/bin/env bash
# Debian's gradle 4.4 with JUnit 4, offline: the console and the XML reports.
# Later versions print the same lines; with JUnit 5 the class is its display name ("RowsTest > rows(String) >
# [1] a b PASSED"), which no version packaged here can show: see tests/unit/verifier/test_testlog_gradle.c.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need gradle javac
[ -e /usr/share/java/junit4.jar ] || readers_skip "Debian's junit4 is not installed"
gradle="gradle --offline --no-daemon --console=plain --gradle-user-home /tmp/gradle"
xml='build/test-results/test/TEST-*.xml'
some="--tests shop.PriceTest --tests 'shop.CleanTest*' --tests shop.RowsTest --tests shop.SetUpTest"
# Gradle runs classes in the order of the directory: one class at a time where the console is read.
readers_log all "$gradle test $some" "$xml"
for class in PriceTest RowsTest SetUpTest; do
	readers_log console-$class "$gradle test --tests shop.$class"
done
readers_log streams "$gradle -Pstreams test --tests shop.PriceTest"
readers_log clean "$gradle test --tests 'shop.CleanTest'"
readers_log clean-xml "$gradle test --tests 'shop.Clean*'" "$xml"
readers_log again "$gradle -q test --tests shop.CleanTest >/dev/null 2>&1; $gradle test --tests shop.CleanTest"
readers_log forge "$gradle -Pstreams test --tests shop.ForgeTest"
readers_log forge-xml "$gradle -Pstreams test --tests shop.ForgeTest" "$xml"
readers_log quit "$gradle test --tests shop.QuitTest --tests shop.CleanTest"
readers_log killed "$gradle test --tests shop.KilledTest --tests shop.CleanTest"
readers_log hangs "timeout -k 1 15 $gradle test --tests shop.HangsTest"
readers_log broken "echo 'class X { int x = \"no\"; }' >src/test/java/X.java; $gradle test"
readers_log none "$gradle test --tests shop.NoSuchTest"
