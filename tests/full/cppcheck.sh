#!/usr/bin/env bash
# cppcheck. memleak and resourceLeak are off: it does not know cleanup attributes (analyzer.sh
# does); the rest of tests/full/cppcheck.supp has its reasons there.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
tap_try "cppcheck finds nothing" cppcheck --quiet --std=c11 --language=c -j 2 \
	--enable=warning,portability --library=posix,gnu --inline-suppr --error-exitcode=1 \
	--suppressions-list=tests/full/cppcheck.supp -I . -D_GNU_SOURCE \
	-DPROCTOR_VERSION='"0"' -DPROCTOR_DATADIR='"/"' \
	-D'cJSON_ArrayForEach(e,a)=while(((e)=each(a)))' "${sources[@]}"
tap_done
