# shellcheck shell=sh
cc -I. -o "$HOME/check" "$HOME/check.c" cJSON.c -lm && "$HOME/check"
