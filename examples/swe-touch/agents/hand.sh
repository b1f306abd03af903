# shellcheck shell=sh
# The hands of the agents beside this file: each call is one command of theirs. What an agent knows of a task
# stands in its HOME: files (names of those it will change), own.diff (its own idea of the repair, against the tree
# as it is at the beginning), see.sh (shows the places), tests.sh (the tests it finds there) and report.sh (does the report hold?).
set -eu
cd "{workdir}"

# each COMMAND...: with the name of every file behind it, until one fails.
each()
{
	while read -r name; do
		"$@" "$name" || return
	done <~/files
}

keep()
{
	mkdir -p "$(dirname ~/"seen/$1")" "$(dirname ~/"mine/$1")"
	cp "$1" ~/"seen/$1"
	cp "$1" ~/"mine/$1"
}

# Where a patch does not go on, for instance because a part of it is there already: a merge of what was seen, what is
# there now, and what it was meant to become. In a line that both changed the agent's own text stands.
merge()
{
	(cd ~ && git merge-file -p --theirs "{workdir}/$1" "seen/$1" "mine/$1") >~/merged
	cmp -s ~/merged "$1" || cat ~/merged >"$1"
}

merges()
{
	(cd ~ && git merge-file -p "{workdir}/$1" "seen/$1" "mine/$1") >/dev/null || return 1
}

goes_on()
{
	patch -p1 -N -s --dry-run -r - "$@" <~/own.diff >/dev/null 2>&1
}

# What stands there that the agent did not write, remarks left out.
compare()
{
	diff ~/"mine/$1" "$1" | grep '^[<>]' | grep -v '^[<>][[:space:]]*\(//\|#\|/\*\|\*\|$\)' || true
}

put_back()
{
	cmp -s ~/"mine/$1" "$1" || cat ~/"mine/$1" >"$1"
}

case $1 in
look) # shows the places; the first time it also keeps in mind how the files were, and how they shall be
	sh ~/see.sh
	if [ ! -e ~/seen ]; then
		each keep
		(cd ~/mine && patch -sp1 <~/own.diff)
	fi
	;;
fix)
	if patch -p1 -R -s -f --dry-run -r - <~/own.diff >/dev/null 2>&1; then
		exit 0
	elif goes_on -F 0 || { ! each merges && goes_on -F 3; }; then
		patch -p1 -N -s -F 3 -r - --no-backup-if-mismatch <~/own.diff
	else
		each merge
	fi
	;;
foreign) # status 0: there is something
	each compare >~/foreign
	cat ~/foreign
	[ -s ~/foreign ]
	;;
back)
	each put_back
	;;
esac
