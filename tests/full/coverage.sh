#!/usr/bin/env bash
# Line coverage by unit tests, saved fuzz inputs and whole runs; shown per folder and in all, with
# a floor below which it fails.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
floor=${COVERAGE_FLOOR:-70}
dir=$build-cov
tap_try "build with coverage" build_tree "$dir" gcc -Db_coverage=true
find "$dir" -name '*.gcda' -delete
while read -r program; do
	timeout 600 "$program" >/dev/null 2>&1
done < <(unit_programs "$dir")
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	[ "$name" = fuzz_main ] || "$dir/tests/fuzz/$name" "tests/corpus/${name#fuzz_}" >/dev/null 2>&1
done
for test in tests/run/*.sh; do
	[ -e "$test" ] && PROCTOR=$dir/supervisor/proctor timeout 600 bash "$test" >/dev/null 2>&1
done
report=$(gcovr -r "$top" --object-directory "$dir" -e 'tests/' --gcov-ignore-parse-errors \
	--csv 2>/dev/null)
figures=$(printf '%s\n' "$report" | python3 -c '
import csv, sys
rows = {}
for row in csv.DictReader(sys.stdin):
    folder = row["filename"].split("/")[0]
    total, covered = rows.get(folder, (0, 0))
    rows[folder] = (total + int(row["line_total"]), covered + int(row["line_covered"]))
for folder, (total, covered) in sorted(rows.items()):
    print(f"{folder} {100 * covered / total:.1f}")
total = sum(t for t, _ in rows.values())
print(f"all {100 * sum(c for _, c in rows.values()) / max(total, 1):.1f}")')
while read -r folder percent; do
	echo "# coverage of $folder: $percent %"
done <<<"$figures"
all=${figures##*all }
tap_ok $((${all%.*} < floor)) "line coverage $all % (floor $floor %)"
tap_done
