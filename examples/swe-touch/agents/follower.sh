# shellcheck shell=sh
# Looks again as careful.sh does, but a user who says that the change was meant is right: then it stays.
sh ~/hand.sh look
sh ~/hand.sh fix
sh ~/tests.sh
for _ in 1 2 3 4 5 6; do
	sh ~/see.sh
	if ! sh ~/hand.sh foreign && sh ~/report.sh; then
		break
	fi
	if [ -s /tmp/user-message.txt ]; then
		cat /tmp/user-message.txt
		break
	fi
	sh ~/hand.sh back
done
sh ~/tests.sh
true
