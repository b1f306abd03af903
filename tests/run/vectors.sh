#!/usr/bin/env bash
# The published figures of SWE-Touch (tables 3, 4, 5, 7 and 10, the failure shares, the rank correlation)
# come out of records of single runs that fit the published counts; and what cannot be a pair is refused.
exec /usr/bin/python3 "$(dirname "$0")/lib/vectors.py"
