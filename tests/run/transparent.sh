#!/usr/bin/env bash
# Ordinary work finishes under proctor with the same exit status and output as without.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
export LC_ALL=C.UTF-8

# same NAME DIR COMMAND...: run in a copy natively, run in DIR under proctor, compare.
same()
{
	local name=$1 dir=$2 native under
	shift 2
	rm -rf native under home
	mkdir home
	cp -a "$dir" native
	cp -a "$dir" under
	(cd native && env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$work/home" LANG=C.UTF-8 TZ=UTC SHELL=/bin/sh USER=agent LOGNAME=agent "$@" </dev/null >"$work/n.out" 2>"$work/n.err")
	native=$?
	(cd under && timeout 300 "$PROCTOR" run -q --no-tty --pass-status --out "$work/run-${name// /-}" -- "$@" </dev/null >"$work/p.out" 2>"$work/p.err")
	under=$?
	tap_is "$under" "$native" "$name: same exit status" || tail -n 5 "$work/p.err" | sed 's/^/# /'
	for f in out err; do
		sed -E -i "s#$work/(native|under)#DIR#g; s#[0-9.]+ ?(ms|s|seconds)\\b#TIME#g; $filter" "$work/n.$f" "$work/p.$f"
		tap_is "$(sort "$work/p.$f" | md5sum)" "$(sort "$work/n.$f" | md5sum)" "$name: same std$f" ||
			diff "$work/n.$f" "$work/p.$f" | head -n 10 | sed 's/^/# /'
	done
}
filter=

# A C program of several files, built in parallel.
mkdir c && for i in $(seq 1 12); do printf '#include <stdio.h>\n#include <string.h>\nint f%d(void);\nint f%d(void) { return printf("%d\\n"); }\n' "$i" "$i" "$i" >"c/f$i.c"; done
{ for i in $(seq 1 12); do echo "int f$i(void);"; done; echo 'int main(void) {'; for i in $(seq 1 12); do echo "f$i();"; done; echo 'return 0; }'; } >c/main.c
# shellcheck disable=SC2016 # make's own variables
printf 'OBJS := $(patsubst %%.c,%%.o,$(wildcard *.c))\nprog: $(OBJS)\n\tcc -o $@ $^\n%%.o: %%.c\n\tcc -Wall -c -o $@ $<\n' >c/Makefile
same "make -j2" c make -s -j2
same "make and run" c sh -c 'make -s -j2 && ./prog; exit 7'

# A C library as Debian ships its source (a C compiler with several tools, libraries, symbolic links).
if "$top/tests/tasks/cjson__minify-1.7.15/make.sh" "$work/cjson" >cjson.log 2>&1; then
	same "make -j2 of a C package" cjson/repo make -j2 static
else
	tail -n 5 cjson.log | sed 's/^/# /'
	tap_ok 1 "the source of a C package can be had"
fi

mkdir py && printf 'import pytest\n@pytest.mark.parametrize("n", range(50))\ndef test_n(n): assert n != 13\n' >py/test_n.py
same "pytest" py /usr/bin/python3 -m pytest -q -p no:cacheprovider

mkdir git && (cd git && git init -q . && for i in $(seq 1 30); do echo "$i" >"f$i"; git add . && git -c user.name=t -c user.email=t@localhost commit -qm "$i"; done)
same "git gc" git sh -c 'git -c gc.autoDetach=false gc --quiet && git fsck && git log --oneline'

if command -v go >/dev/null; then
	mkdir go && printf 'module example\n\ngo 1.19\n' >go/go.mod
	printf 'package example\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Log("b"); t.Fail() }\n' >go/a_test.go
	same "go test" go env GOFLAGS=-mod=mod GOTOOLCHAIN=local go test ./...
else
	tap_skip "go test" "go is not installed"
fi

# A project with a dependency from the registry: its cache is filled before, the runs are offline.
mkdir node && cat >node/a.test.js <<'J'
const test = require('node:test');
const assert = require('assert');
const isNumber = require('is-number');
test('good', () => assert.ok(isNumber('7')));
test('bad', () => assert.equal(1, 2));
J
printf '{ "name": "a", "version": "1.0.0", "scripts": { "test": "node --test" }, "dependencies": { "is-number": "7.0.0" } }\n' >node/package.json
export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false
if (cd node && npm install --cache ./cache >/dev/null 2>"$work/npm.err" && rm -rf node_modules); then
	filter='s/[0-9]+\.[0-9]+/N/g; /duration_ms/d; s/_logs.*//'
	same "npm ci and npm test" node env npm_config_update_notifier=false npm_config_cache=./cache sh -c 'npm ci --offline --no-audit --no-fund && npm test'
	filter=
else
	tail -n 3 npm.err | sed 's/^/# /'
	tap_ok 1 "the registry gives is-number"
fi

mkdir many && cat >many/many.sh <<'J'
i=0
while [ $i -lt 10000 ]; do /bin/true; i=$((i + 1)); done
echo $i
J
same "10,000 short processes" many sh many.sh

same "signals" c sh -c 'kill -SEGV $$'
same "exit status of a missing program" c sh -c 'nosuchprogram; echo $?'
same "background job and wait" c sh -c 'sleep 0.2 & wait; echo done'
same "stop and continue" c /usr/bin/python3 -c 'import os, signal
r, w = os.pipe()
p = os.fork()
if not p:
    os.kill(os.getpid(), signal.SIGSTOP)
    os.read(r, 1)
    os._exit(4)
st = os.waitpid(p, os.WUNTRACED)[1]
print(os.WIFSTOPPED(st), os.WSTOPSIG(st))
os.kill(p, signal.SIGCONT)
print(os.WIFCONTINUED(os.waitpid(p, os.WCONTINUED)[1]))
os.write(w, b"x")
print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))'
same "traps" c sh -c 'trap "echo got" USR1; kill -USR1 $$; echo after'
same "pipes" c sh -c 'seq 1 100000 | sort -rn | head -n 3; seq 1 300000 | wc -c'

# A shell with job control on a terminal of its own.
cat >terminal.py <<'J'
import os, pty, sys, time, select
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
def until(text, seconds=20):
    global out
    end = time.time() + seconds
    while text not in out and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                out += os.read(fd, 4096)
            except OSError:
                return False
    return text in out
ok = until(b"READY1")
os.write(fd, b"sleep 100\n"); time.sleep(0.5)
os.write(fd, b"\x1a"); ok &= until(b"Stopped")
os.write(fd, b"jobs; echo RE''ADY2\n"); ok &= until(b"READY2")
os.write(fd, b"fg\n"); time.sleep(0.3); os.write(fd, b"\x03"); time.sleep(0.2)
os.write(fd, b"echo st=$?; tty; echo RE''ADY3\n"); ok &= until(b"READY3")
os.write(fd, b"exit 5\n")
until(b"\0never", 2)
_, st = os.waitpid(pid, 0)
print("OK" if ok and b"st=130" in out and b"not a tty" not in out and os.waitstatus_to_exitcode(st) == 5 else out)
J
said=$(cd c && /usr/bin/python3 "$work/terminal.py" "$PROCTOR" run -q --pass-status --out "$work/run-tty" -- bash --norc -ic "PS1='> '; echo RE''ADY1; exec bash --norc -i" 2>&1)
tap_is "$said" OK "a shell with job control on a terminal"

# The tree of an empty directory is packed twice under one name.
mkdir nothing
(cd nothing && proctor run -q --pass-status --out "$work/run-nothing" -- sh -c 'echo x >new') 2>err.txt
tap_is "$? $(cat err.txt)" "0 " "a run in an empty directory"
tap_is "$(grep -c '^+x$' run-nothing/patch.diff)" 1 "and its patch"
tap_done
