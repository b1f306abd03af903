# shellcheck shell=sh
# Numbers whole files, changes them with one patch, and leaves a note beside.
cd "{workdir}" || exit 1
while read -r name; do
	cat -n "$name"
done <~/files
patch -sp1 <~/own.diff
echo 'What the report was about is changed.' >NOTES.txt
sh ~/tests.sh
true
