# shellcheck shell=sh
clamp() {
	if [ "$1" -lt "$2" ]; then echo "$2"; else echo "$1"; fi
}

add() {
	echo $(($1 + $2))
}
