#!/usr/bin/env bash
# Debian's Django: its test runner with --verbosity 2.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need env
/usr/bin/python3 -c 'import django' 2>/dev/null || readers_skip "python3-django is not installed"
test="/usr/bin/python3 -m django test --settings settings --pythonpath . --verbosity 2"
readers_log verbose "$test app.tests"
readers_log clean "$test clean.tests"
readers_log parallel "$test --parallel 2 clean.tests app.tests.Data.test_saves"
readers_log quiet "/usr/bin/python3 -m django test --settings settings --pythonpath . clean.tests"
readers_log broken "$test brokenapp clean.tests"
readers_log check-fails "$test --settings brokenapp app.tests"
readers_log reverse "$test --reverse app.tests"
