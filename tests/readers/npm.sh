# shellcheck shell=bash disable=SC2154
# For tests/readers/RUNNER/make.sh of a runner from npm: source this behind lib.sh.
store=${PROCTOR_TASK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/proctor-tasks}/readers
export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false

# readers_npm NAME PACKAGE@VERSION...: the packages, fetched once into a cache, are seen as
# /NAME/node_modules. Skips the runner when they cannot be had.
readers_npm()
{
	local name=$1
	shift
	if [ ! -d "$store/$name/node_modules" ]; then
		mkdir -p "$store" || readers_skip "no cache at $store"
		rm -rf "$store/$name.new"
		mkdir "$store/$name.new"
		echo '{"private":true}' >"$store/$name.new/package.json"
		(cd "$store/$name.new" && timeout 300 npm install --silent --ignore-scripts --save-exact "$@" >/dev/null 2>&1) ||
			readers_skip "npm install $* failed"
		mv "$store/$name.new" "$store/$name" || exit 1
	fi
	readers_bind "$store/$name" "$name"
}
