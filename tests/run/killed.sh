#!/usr/bin/env bash
# kill -9 of each process of proctor's own in each phase of a run and of a grading, found by what the run directory says:
# nothing is left, the records can be read, the patch is kept where the agent had worked.
# seconds: 1200
exec /usr/bin/python3 "$(dirname "$0")/lib/killed.py"
