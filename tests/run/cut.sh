#!/usr/bin/env bash
# Records of a run that end anywhere, as after a full disk or a crash of the machine: trace, label, judge, report and grade
# read them as far as they go. A spread sample of places; every byte in the full lane (tests/full/cut.sh).
# seconds: 900
exec /usr/bin/python3 "$(dirname "$0")/lib/cut.py"
