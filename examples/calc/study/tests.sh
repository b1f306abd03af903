# shellcheck shell=sh
make -s test
