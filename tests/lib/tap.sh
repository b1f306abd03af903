# shellcheck shell=bash
# TAP for shell tests: source this, make assertions, end with tap_done.

tap_n=0
tap_bad=0

# tap_ok STATUS NAME: one assertion; STATUS 0 is good.
tap_ok()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$2"
		return 0
	fi
	tap_bad=$((tap_bad + 1))
	printf 'not ok %d - %s\n' "$tap_n" "$2"
	printf '#   at %s:%s\n' "${BASH_SOURCE[1]}" "${BASH_LINENO[0]}"
	return 1
}

# tap_is GOT WANT NAME: equal strings.
tap_is()
{
	if [ "$1" = "$2" ]; then
		tap_ok 0 "$3"
	else
		tap_ok 1 "$3"
		printf '#   got:  %s\n#   want: %s\n' "${1//$'\n'/$'\n#         '}" "${2//$'\n'/$'\n#         '}"
		return 1
	fi
}

# tap_like TEXT REGEX NAME: TEXT matches the extended regular expression.
tap_like()
{
	if [[ $1 =~ $2 ]]; then
		tap_ok 0 "$3"
	else
		tap_ok 1 "$3"
		printf '#   text: %s\n#   does not match: %s\n' "${1//$'\n'/$'\n#         '}" "$2"
		return 1
	fi
}

# tap_try NAME COMMAND...: the command succeeds; its output is shown when it does not.
tap_try()
{
	local name=$1 out status
	shift
	out=$("$@" 2>&1)
	status=$?
	tap_ok "$status" "$name" || printf '%s\n' "$out" | tail -n 60 | sed 's/^/#   /'
	return "$status"
}

# tap_skip NAME WHY: see tests/expected-skips for what WHY may begin with.
tap_skip()
{
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

# tap_done: the plan; ends the script.
tap_done()
{
	printf '1..%d\n' "$tap_n"
	exit $((tap_bad > 0))
}
