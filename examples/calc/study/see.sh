# shellcheck shell=sh
sed -n '30,80p' src/duration.c
