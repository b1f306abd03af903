#!/usr/bin/env bash
# Unit tests under valgrind: errors and definite leaks fail. Programs that build boxes or trace
# (clone with namespaces, ptrace, seccomp) are left out: valgrind 3.19 cannot run them; the
# sanitizer build covers them.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
build_tree "$build" gcc -Dwerror=true >/dev/null
while read -r program; do
	case $program in
	*/sandbox/* | */supervisor/* | */verifier/test_grade | */verifier/test_gate) continue ;;
	*/base/test_mem) continue ;; # aborts on purpose
	esac
	out=$(valgrind --quiet --error-exitcode=99 --leak-check=full \
		--errors-for-leak-kinds=definite --child-silent-after-fork=yes "$program" 2>&1)
	status=$?
	if [ $status -ne 0 ] && grep -q 'unhandled amd64-linux syscall: 437' <<<"$out"; then
		tap_skip "${program#"$build"/}" "valgrind: version 3.19 has no openat2(2)"
		continue
	fi
	tap_ok $status "${program#"$build"/}" || grep -A15 '^==' <<<"$out" | head -n 60 | sed 's/^/#   /'
done < <(unit_programs "$build")
tap_done
