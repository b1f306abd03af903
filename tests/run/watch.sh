#!/usr/bin/env bash
# Profile field "watch": every way of changing a file of the workspace leaves exact edit records and images.
exec /usr/bin/python3 "$(dirname "$0")/lib/watch.py"
