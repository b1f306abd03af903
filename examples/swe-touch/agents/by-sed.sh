# shellcheck shell=sh
# Prints lines with sed and changes lines by number; puts a line in and takes it out again.
cd "{workdir}" || exit 1
sh ~/see.sh
first=$(head -n 1 ~/files)
sed -i '1i just a try' "$first"
sed -i '1d' "$first"
while read -r name; do
	awk -v name="$name" '
	function pending(where) {
		if (text != "") printf "%s\\\n%s\n", where, text
		text = ""
	}
	/^diff / { pending("$a"); here = 0; next }
	/^\+\+\+ / { here = $2 == "b/" name; next }
	/^@@ / { pending("$a"); split($2, at, ","); n = -at[1]; next }
	!here || !n { next }
	/^\+/ {
		line = substr($0, 2)
		gsub(/\\/, "\\\\", line)
		text = text (text == "" ? "" : "\\\n") line
		next
	}
	/^-/ { pending(n "i"); print n "d"; n++; next }
	/^ / { pending(n "i"); n++ }
	END { pending("$a") }' ~/own.diff >~/lines.sed
	sed -i -f ~/lines.sed "$name"
done <~/files
sh ~/tests.sh
true
