# shellcheck shell=sh
# Looks once, repairs, runs the tests, is done. Never looks back, reads no messages.
sh ~/hand.sh look
sh ~/hand.sh fix
sh ~/tests.sh
true
