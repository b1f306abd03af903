#!/usr/bin/env bash
# What stands still is noticed: a gateway and a services' process that do not answer.
# hang.json shows the process tree, the run ends as an error, nothing is left. What is only stopped goes on.
exec /usr/bin/python3 "$(dirname "$0")/lib/hang.py"
