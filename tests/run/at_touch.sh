#!/usr/bin/env bash
# At-touch: the very read that touched returns the edited bytes. After-read: it returns the old ones
# and the next read the new. After-command: the edit lands between two commands.
exec /usr/bin/python3 "$(dirname "$0")/lib/at_touch.py"
