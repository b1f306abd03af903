#!/usr/bin/env bash
# Debian's bats: console (pretty), TAP and JUnit.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need bats
readers_log tap "bats --formatter tap all.bats setup.bats"
readers_log pretty "bats --pretty all.bats setup.bats"
readers_log junit "bats --formatter junit all.bats setup.bats"
readers_log timing "bats -T --formatter tap all.bats"
readers_log forge "bats --formatter tap forge.bats"
readers_log forge-pretty "bats --pretty forge.bats"
readers_log forge-junit "bats --formatter junit forge.bats"
readers_log as-tap "bats --formatter tap all.bats"
readers_log hangs "timeout 5 bats --formatter tap hangs.bats"
readers_log setup-file "bats --formatter tap file_fails.bats setup.bats"
readers_log syntax "bats --formatter tap syntax.bats"
readers_log empty "bats --formatter tap nothing.bats"
