#!/usr/bin/env bash
# Every command of the table of trigger decisions, really run: the released rule's word and the kernel's.
exec /usr/bin/python3 "$(dirname "$0")/lib/compare.py"
