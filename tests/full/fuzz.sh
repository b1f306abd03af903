#!/usr/bin/env bash
# Every fuzz target for SECONDS_EACH seconds (default 60) with libFuzzer, ASan and UBSan, starting
# from the saved inputs. New inputs go to a scratch directory; a crash is kept and named.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
each=${SECONDS_EACH:-60}
tap_try "fuzz targets build" build_tree "$build-fuzz" clang -Dfuzz=true -Db_lundef=false \
	-Db_sanitize=address,undefined -Dc_args=-fsanitize=fuzzer-no-link
found=$(mktemp -d "${TMPDIR:-/var/tmp}/fuzz-XXXXXX")
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	[ "$name" = fuzz_main ] && continue
	mkdir -p "$found/$name"
	if tap_try "$name, $each s" "$build-fuzz/tests/fuzz/$name" -max_total_time="$each" \
		-timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$build-fuzz/$name-" \
		"$found/$name" "tests/corpus/${name#fuzz_}"; then
		continue
	fi
	echo "# the input is kept as $build-fuzz/$name-*; put it into tests/corpus/${name#fuzz_}/"
done
rm -rf "$found"
tap_done
