# shellcheck shell=bash disable=SC2034
# For the stages of the full lane (tests/full/*.sh): source this first.
#   top     root of the tree     build   the ordinary build     sources   C files of the program
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top" || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
# shellcheck source=tests/lib/build.sh
. tests/lib/build.sh
choose_build
export PROCTOR_DATADIR=$top/profiles/data
mapfile -t sources < <(find base profiles sandbox triggers gateway verifier study supervisor \
	-name '*.c' 2>/dev/null | sort)

# unit_programs BUILD: unit tests of a build.
unit_programs()
{
	local source
	for source in tests/unit/*/test_*.c; do
		printf '%s\n' "$1/${source%.c}"
	done
}
