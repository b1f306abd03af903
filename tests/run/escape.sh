#!/usr/bin/env bash
# Known ways out of a sandbox, tried from inside (tests/escape, tests/tables/escape.tsv), and what a hostile agent
# leaves for those who read its tree and its trace afterwards. The same as root and as a user.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# shellcheck source=tests/run/lib/escape.sh
. "$top/tests/run/lib/escape.sh"
export LC_ALL=C.UTF-8
escape=${PROCTOR%/supervisor/proctor}/tests/escape/escape
[ -x "$escape" ] || escape=$(dirname "$PROCTOR")/escape
mark=proctor-escape

# fresh: an empty workspace with the program, entered.
fresh()
{
	cd "$work" || exit 1
	rm -rf ws out
	mkdir ws
	cd ws || exit 1
	cp "$escape" escape
	echo one >tracked
}

# box OUT COMMAND...: one run, its output kept beside.
box()
{
	timeout 120 "$PROCTOR" run -q --no-tty --out "$work/$1" -- "${@:2}" \
		</dev/null >"$work/$1.txt" 2>"$work/$1.err"
}

# until_there FILE: wait for FILE to hold something.
until_there()
{
	for _ in $(seq 100); do
		[ -s "$1" ] && return
		sleep 0.1
	done
}

# rows FILE: one assertion for each line "name TAB got TAB wanted".
rows()
{
	local name got want
	while IFS=$'\t' read -r name got want; do
		case $got in
		skip:*) tap_skip "$name" "${got#skip:}: this kernel has none" ;;
		*) tap_is "$got" "$want" "$name" ;;
		esac
	done < <(grep -v '^#' "$1")
	grep '^#' "$1"
}

# ---- Attempts of one program.
fresh
cp "$escape" suid
cp "$escape" mine
chmod 4755 suid
host_services
trap 'kill "$services" "${maker-}" 2>/dev/null; chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT
tap_like "$port" '^[0-9]+$' "services outside are up"
timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
tap_ok $? "the listener on 127.0.0.1 answers outside"
until_there "$work/guests"
outside >"$work/outside.before"
box probe ./escape probe "$services" "$port" "$(hostname -I 2>/dev/null | cut -d' ' -f1 | grep . || echo 192.168.0.1)"
outside >"$work/outside.after"
tap_is "$(run_field "$work/probe/run.json" end.status)" 0 "the attempts came to their end" ||
	sed 's/^/# /' "$work/probe.err"
judge "$top/tests/tables/escape.tsv" "$work/probe.txt" "$work/probe/trace.jsonl"
tap_is "$(cat tracked)" one "the workspace outside is as before"
kill "$services"
wait "$services" 2>/dev/null

# ---- Two boxes at once have nothing in common.
fresh
mkfifo "$work/hold"
"$PROCTOR" run -q --no-tty --out "$work/make" -- ./escape make <"$work/hold" >"$work/make.txt" 2>&1 &
maker=$!
exec 9>"$work/hold"
until_there "$work/make.txt"
tap_is "$(cat "$work/make.txt")" made "the first box holds its marks"
box look ./escape look
while read -r what seen; do
	tap_is "$seen" 0 "the second box does not see the first one's $what"
done <"$work/look.txt"
tap_is "$(wc -l <"$work/look.txt")" 12 "all marks were looked for"
exec 9>&-
wait "$maker"
box after ./escape look
tap_is "$(grep -c ' 0$' "$work/after.txt")" 12 "a later box sees nothing of earlier ones"

# ---- Programs started oddly are in the trace.
fresh
box odd ./escape run ./escape
tap_is "$(grep -c '^1000 1000 1000 1000$' "$work/odd.txt")" 2 "a program from memory and one by ld.so ran"
tap_is "$(run_count "$work/odd" exec 'path=/memfd:ghost (deleted)')" 1 "exec of a memory file is recorded"
tap_is "$(grep '"exec"' "$work/odd/trace.jsonl" | grep -c '"ld.so","./escape"')" 1 "exec by ld.so is recorded with its program"
tap_is "$(run_count "$work/odd" exec path=/usr/bin/true)" 1 "exec by /proc/self/root is recorded by its true path"
tap_is "$(run_count "$work/odd" exec path=/usr/bin/uname)" 1 "exec by a clone that changes its parent is recorded"

# ---- No call passes the trace unseen.
fresh
echo x >quiet-file
box quiet ./escape quiet quiet-file
tap_ok $(($(grep '"open"' "$work/quiet/trace.jsonl" | grep -c 'quiet-file"') != 1)) \
	"an open below a user notification is in the trace" || sed 's/^/# /' "$work/quiet.txt"

fresh
cat >"$work/task.json" <<'J'
{ "schema": "proctor.task/1", "instance_id": "aio-1", "problem_statement": "none", "source": "ws" }
J
cat >"$work/scenario.json" <<'J'
{ "schema": "proctor.scenario/1", "id": "aio", "instance_id": "aio-1", "mode": "vanilla",
  "regions": [ { "path": "tracked", "start": 1, "end": 1 } ], "interventions": [] }
J
timeout 60 "$PROCTOR" run -q --no-tty --task "$work/task.json" --scenario "$work/scenario.json" \
	--out "$work/aio" -- ./escape aio tracked </dev/null >"$work/aio.txt" 2>&1
tap_like "$(cat "$work/aio.txt")" '^(refused|read 4)$' "a read by Linux AIO was tried"
tap_ok "$(grep -q refused "$work/aio.txt" || [ "$(run_count "$work/aio" touch level=bytes)" != 0 ]; echo $?)" \
	"it is refused or a touch"

# ---- Hostile names.
fresh
box names ./escape names
tap_is "$(run_field "$work/names/run.json" end.status)" 0 "hostile names could be made"
/usr/bin/python3 - "$work/names" >"$work/names.tap" <<'J'
import json, re, sys
bad = lambda data: [c for c in data if c < 32 and c != 10 or c == 127]
names = [b"line\nfeed", b"\x1b]0;title\x07\x1b[31mred", b'q"},\n{"n":1,"k":"forged"}', b"back\\slash\\u0041",
         b"\x80\xff\xc3", "\u202ertl".encode(), b"dir\n\x1b[2J"]
raw = {n: open(f"{sys.argv[1]}/{n}", "rb").read() for n in ("trace.jsonl", "run.json", "patch.diff", "interventions.jsonl")}
def name_of(text):
    return re.sub(rb"\\(\\|x[0-9a-f]{2})", lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]),
                  text.encode())
recs, broken = [], 0
for line in raw["trace.jsonl"].splitlines():
    try:
        recs.append(json.loads(line))
    except ValueError:
        broken += 1
for name, data in raw.items():
    print(f"no control bytes in {name}\t{len(bad(data))}\t0")
print(f"every line of the trace is JSON\t{broken}\t0")
print(f"no forged record\t{sum(r.get('k') == 'forged' for r in recs)}\t0")
numbers = [r["n"] for r in recs if "n" in r]
print(f"numbers have no gaps\t{numbers == list(range(1, len(numbers) + 1))}\tTrue")
paths = {name_of(r["path"]).split(b"/", 5)[-1] for r in recs if isinstance(r.get("path"), str)}
paths = {p.rsplit(b"/", 1)[-1] for p in paths}
for n in names:
    print(f"{n!a} comes back from a path\t{n in paths}\tTrue".replace("\\", "/"))
args = {name_of(a) for r in recs if r.get("k") == "exec" for a in r["argv"]}
print(f"all come back from argv\t{all(n in args for n in names[:-1])}\tTrue")
J
rows "$work/names.tap"
control=$'[\x01-\x08\x0b-\x1f\x7f]'
for form in text json; do
	"$PROCTOR" trace --format $form "$work/names" >"$work/names.$form" 2>&1
	tap_is "$(LC_ALL=C grep -c "$control" "$work/names.$form")" 0 "proctor trace prints no control bytes ($form)"
done
"$PROCTOR" explain "$work/names" >"$work/names.explain" 2>&1
tap_is "$(LC_ALL=C grep -c "$control" "$work/names.explain")" 0 "nor does proctor explain"

# ---- What the agent leaves for readers outside.
fresh
mkdir dir swapped
echo in >dir/file
echo in >swapped/passwd
box links sh -c '
	ln -s /etc/passwd link; ln -s /etc etc; ln -s . loop; ln -s /proc/1/root box
	rm tracked; ln -s /etc/shadow tracked
	rm -r swapped; ln -s /etc swapped
	ln -s /etc/passwd patch.diff; ln -s /etc/passwd run.json; echo "{\"k\":\"forged\"}" >trace.jsonl
	mkdir .git; ln -s /etc .git/hooks; printf "[core]\n\tfsmonitor = touch /tmp/pwned\n" >.git/config
	mkfifo pipe; /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"
	echo closed >closed; chmod 000 closed; mkdir shut; echo x >shut/x; chmod 000 shut
	echo more >>etc/passwd; truncate -s 6G sparse; mv dir moved; ln escape hard'
tap_is "$(run_field "$work/links/run.json" end.reason)" exited "a hostile tree does not stop the run" ||
	sed 's/^/# /' "$work/links.err"
patch=$work/links/patch.diff
tap_is "$(grep -cE '^.?root:|agent:x:|^.?more$' "$patch")" 0 "no file behind a link is in the patch"
# wanted PATH TARGET: the patch makes PATH a link to TARGET.
wanted()
{
	tap_is "$(awk -v p="diff --git a/$1 b/$1" '$0 == p {on = 1; next} /^diff / {on = 0}
		on && (/^new file mode 120000$/ || /^\+[^+]/)' "$patch" | tr '\n' ' ')" "new file mode 120000 +$2 " "the patch carries link $1, not what it leads to"
}
wanted link /etc/passwd
wanted etc /etc
wanted box /proc/1/root
wanted patch.diff /etc/passwd
wanted run.json /etc/passwd
tap_like "$(grep -A8 -F 'diff --git a/tracked b/tracked' "$patch" | tr '\n' ' ')" '120000.*/etc/shadow' "a file became a link"
tap_like "$(grep -A8 -F 'diff --git a/swapped b/swapped' "$patch" | tr '\n' ' ')" '120000.*\+/etc ' "a directory became a link"
tap_is "$(run_count "$work/links" forged)" 0 "a trace in the workspace is not ours"
dropped=$(run_field "$work/links/run.json" patch.dropped)
for name in pipe sock sparse; do
	tap_like "$dropped" "$name" "$name is named as left out"
done
for name in closed shut/x; do
	[[ $dropped == *"${name%/*}"* ]] || grep -qF "b/$name" "$patch"
	tap_ok $? "$name, which nobody may read, is in the patch or named as left out"
done
tap_ok "$([ ! -e /tmp/pwned ] && [ ! -L link ] && [ -f tracked ]; echo $?)" "nothing of it happened outside"
tap_ok "$([ ! -L "$patch" ] && [ ! -L "$work/links/run.json" ]; echo $?)" "the run directory holds no link"
ls -d "$work/links"/* >"$work/list"
tap_is "$(wc -l <"$work/list")" 7 "the run directory holds our files only" || sed 's/^/# /' "$work/list"

# ---- The record lies out of the agent's reach, even where the user put it into the workspace.
for how in '' --in-place; do
	fresh
	mkdir "$work/target"
	timeout 60 "$PROCTOR" run -q --no-tty ${how:+"$how"} --out out -- sh -c 'cat out/run.json
		echo "{\"k\":\"forged\"}" >out/trace.jsonl; mv out moved; ln -s ../target out' \
		</dev/null >"$work/inside.txt" 2>/dev/null
	tap_is "$(cat out/trace.jsonl moved/trace.jsonl 2>/dev/null | grep -c '^{"k":"forged"}')" 0 \
		"a run directory in the workspace is not written inside ($how)"
	tap_is "$(ls "$work/target")" "" "nor led elsewhere by a link ($how)"
	tap_is "$(grep -c proctor.run "$work/inside.txt")" 0 "nor read inside ($how)"
	rmdir "$work/target" 2>/dev/null || rm -r "$work/target"
done

# ---- Directories that become links while we write into the tree, take the patch, and grade it.
fresh
mkdir -p dir "$work/host"
seq 1 20 >dir/file
seq 1 20 >"$work/host/file"
(cd "$work/host" && md5sum -- *) >"$work/host.sum"
cat >"$work/task.json" <<'J'
{ "schema": "proctor.task/1", "instance_id": "swap-1", "problem_statement": "none", "source": "ws",
  "test": { "command": "grep -c . dir/file", "reader": "exit-code" }, "FAIL_TO_PASS": ["exit-code"] }
J
cat >"$work/scenario.json" <<'J'
{ "schema": "proctor.scenario/1", "id": "swap", "instance_id": "swap-1", "mode": "edit",
  "regions": [ { "path": "dir/file", "start": 3, "end": 4 } ],
  "interventions": [ { "order": 1, "when": { "event": "read_or_edit", "regions": [0] }, "timing": "at-touch",
    "effects": [ { "edit": "edit.diff" } ] } ] }
J
printf '%s\n' '--- a/dir/file' '+++ b/dir/file' '@@ -2,3 +2,4 @@' ' 2' ' 3' '+ours' ' 4' >"$work/edit.diff"
touched=0
for i in 1 2 3; do
	timeout 60 "$PROCTOR" run -q --no-tty --task "$work/task.json" --scenario "$work/scenario.json" --out "$work/swap$i" -- \
		sh -c "./escape swap dir '$work/host' & for i in \$(seq 50); do cat dir/file >/dev/null 2>&1; done; kill \$!" \
		</dev/null >"$work/swap.txt" 2>&1
	tap_is "$(run_field "$work/swap$i/run.json" end.reason)" exited "a directory is swapped while we write: the run ends ($i)" ||
		sed 's/^/# /' "$work/swap.txt"
	touched=$((touched + $(run_count "$work/swap$i" touch)))
	tap_is "$(cd "$work/host" && md5sum -- *)" "$(cat "$work/host.sum")" "nothing is written outside ($i)"
	tap_is "$(ls "$work/host")" file "and nothing made ($i)"
	timeout 60 "$PROCTOR" grade -q --run "$work/swap$i" </dev/null >"$work/swap.txt" 2>&1
	tap_is "$(cd "$work/host" && md5sum -- *)" "$(cat "$work/host.sum")" "nor by grading it ($i)"
done
tap_ok $((touched == 0)) "the file was touched $touched times meanwhile"
printf '%s\n' 'diff --git a/way b/way' 'new file mode 120000' '--- /dev/null' '+++ b/way' '@@ -0,0 +1 @@' "+$work/host" \
	'\ No newline at end of file' 'diff --git a/way/file b/way/file' '--- a/way/file' '+++ b/way/file' '@@ -1,2 +1,2 @@' \
	'-1' '+escaped' ' 2' >"$work/through.diff"
mkdir "$work/through"
timeout 60 "$PROCTOR" grade -q --task "$work/task.json" --patch "$work/through.diff" --out "$work/through" </dev/null \
	>"$work/through.txt" 2>&1
tap_is "$(cd "$work/host" && md5sum -- *)" "$(cat "$work/host.sum")" "a patch through a link of its own writes nothing outside"
tap_ok "$([ "$(run_field "$work/through/verdict.json" verdict)" != resolved ]; echo $?)" "and resolves nothing"

# ---- A run directory that somebody prepared.
fresh
mkdir "$work/target" "$work/prepared"
for name in run.json trace.jsonl patch.diff stdout.log interventions.jsonl plan.json; do
	ln -s "$work/target/$name" "$work/prepared/$name"
done
box prepared sh -c 'echo said; echo made >made'
tap_is "$(ls "$work/target")" "" "links in a prepared run directory are not written through"

# ---- Nested namespaces do not open what is closed outside of them.
fresh
timeout 60 "$PROCTOR" run -q --no-tty --set syscalls.nested_userns=true --out "$work/nested" -- \
	./escape packet </dev/null >"$work/nested.txt" 2>&1
tap_is "$(cat "$work/nested.txt")" 0 "no packet socket in a nested network namespace"
cd "$work" || exit 1
tap_done
