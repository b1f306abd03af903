# shellcheck shell=sh
# Any escaped character, not only a quote, is copied together with its backslash.
sed -i "s/} else if (((\*input)\[0\] == '\\\\\\\\') \&\& ((\*input)\[1\] == '\\\\\"')) {/} else if (((*input)[0] == '\\\\\\\\') \&\& ((*input)[1] != '\\\\0')) {/" cJSON.c
