# shellcheck shell=bash disable=SC2154
# Shared by ./check and ./demo: what is missing from Debian, and the build.
# The caller has set top and stands there.

# run_root COMMAND...: as root, by sudo when we are not.
run_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "not root and no sudo: run as root: $*" >&2
		return 1
	fi
}

# install_packages [full]: what .ci/packages lists and this machine lacks. Needs no network when
# nothing is missing.
install_packages()
{
	local name rest missing=()
	if ! command -v dpkg-query >/dev/null; then
		echo "not a Debian system: install the equivalents of .ci/packages yourself" >&2
		return 0
	fi
	while read -r name rest; do
		case $name in '' | \#*) continue ;; esac
		[[ $rest == full* && -z ${1-} ]] && continue
		dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null | grep -q 'ok installed' ||
			missing+=("$name")
	done <"$top/.ci/packages"
	[ ${#missing[@]} -eq 0 ] && return 0
	echo "installing: ${missing[*]}"
	run_root apt-get update -qq &&
		run_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends "${missing[@]}" >/dev/null
}

# choose_build: sets $build: $BUILD, else ./build, else a place below the user's cache when the
# tree (or the build of somebody else in it) cannot be written.
choose_build()
{
	build=${BUILD:-$top/build}
	if [ -z "${BUILD-}" ] && { [ ! -w "$top" ] || { [ -e "$build" ] && [ ! -w "$build" ]; }; }; then
		build=${XDG_CACHE_HOME:-$HOME/.cache}/proctor/build-$(printf %s "$top" | cksum | cut -d' ' -f1)
	fi
	mkdir -p "$(dirname "$build")"
}

# build_tree DIR COMPILER MESON-OPTION...: configure when needed, compile; output only on failure.
build_tree()
{
	local dir=$1 log status=0
	log=$(mktemp)
	if [ ! -e "$dir/build.ninja" ]; then
		CC=$2 meson setup "$dir" "$top" "${@:3}" >"$log" 2>&1 || status=$?
	fi
	[ $status -ne 0 ] || ninja -C "$dir" -j "${JOBS:-2}" >"$log" 2>&1 || status=$?
	[ $status -eq 0 ] || { echo "cannot build $dir:"; grep -vE '^\[|supports arguments|found: YES' "$log" | tail -n 80; }
	rm -f "$log"
	return $status
}
