#!/usr/bin/env bash
# A disk that is full, at every size at which it can be: the run directory's, the scratch directory's (the workspace's
# changes among them), and that of a grading. In a mount namespace of the test's own, so that it works for everybody.
# seconds: 1200
case ${1-} in
inside) exec /usr/bin/python3 "$(dirname "$0")/lib/diskfull.py" ;;
esac
if [ "$(id -u)" -eq 0 ]; then
	exec unshare --mount bash "$0" inside
fi
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
if ! unshare --user --map-current-user --keep-caps --mount true 2>/dev/null; then
	tap_skip "disks of the test's own" "mount: this user cannot make a mount namespace"
	tap_done
fi
exec unshare --user --map-current-user --keep-caps --mount bash "$0" inside
