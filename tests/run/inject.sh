#!/usr/bin/env bash
# The n-th allocation, mount, clone, write, open, fsync, ptrace, seccomp and the like fails, in a run and in a grading:
# nothing is left, nothing is lost, and the message and the status are right. Here a spread sample of n; all of them
# in the full lane (tests/full/inject.sh). docs/reliability.md has the rows.
# seconds: 1200
exec /usr/bin/python3 "$(dirname "$0")/lib/inject.py"
