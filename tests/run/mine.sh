#!/usr/bin/env bash
# proctor mine on a real task: three scripted agents of different habit (sed, Python, patch), their runs with
# exact lines and without, and the same work as trajectories of mini-swe-agent.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"

if ! "$top/tests/tasks/make-all.sh" "$work/tasks" mpmath__index-1.2.1 >make.log 2>&1; then
	tail -n 20 make.log | sed 's/^/# /'
	tap_ok 1 "the task can be made"
	tap_done
fi
task=$work/tasks/mpmath__index-1.2.1
file=mpmath/matrices/matrices.py
tests=mpmath/tests/test_matrices.py

# What the three change in the base tree: lines 446-447, 512 and 403, and each its own lines of the tests.
tap_is "$(sed -n '446,447p;512p' "$task/repo/$file" | tr -s ' \n' ' ')" \
	" else: raise IndexError('insufficient indices for matrix') raise IndexError('insufficient indices for matrix') " \
	"the lines that this test is about are where it thinks"

mkdir -p agents
cat >agents/alice.sh <<EOF
sed -n '430,460p' $file
sed -n '500,515p' $file
grep -rn 'insufficient' mpmath >/dev/null
sed -i '100i print("alice was here")' $file
sed -i '100d' $file
sed -i -e "447s/.*/                raise IndexError('too few indices')/" -e "512s/.*/                raise IndexError('too few indices')/" $file
sed -i '20i # alice' $tests
EOF
cat >agents/bob.py <<EOF
name = "$file"
text = open(name).read().split("\n")
keep = list(text)
text.insert(99, 'print("bob was here")')
open(name, "w").write("\n".join(text))
text = keep
text[511] = "                raise IndexError('matrix: one index')"
text[445:447] = ["            elif not self.__rows:", "                raise IndexError('empty')",
		 "            elif True:", "                raise IndexError('matrix: one index')"]
open(name, "w").write("\n".join(text))
open("$tests", "a").write("# bob\n")
EOF
cp -r "$task/repo" carol && (
	cd carol || exit 1
	sed -i -e '445,447d' -e '444a\                key = (key, 0)  # a column\n            if not isinstance(key, tuple):\n                raise TypeError(key)' \
		-e '402a\    # carol: see __getitem__\n' "$file"
	sed -i '40i # carol' "$tests"
	echo carol >carol.txt
	git add -A && git diff --cached >../agents/carol.diff
)
cat >agents/carol.sh <<EOF
cat -n $file | sed -n 440,449p
head -n 520 $file | tail -n 20
patch -sp1 <~/carol.diff
EOF
for name in alice bob carol; do
	case $name in
	bob) command='["python3", "~/bob.py"]' files='"~/bob.py": "bob.py"' ;;
	*) command="[\"sh\", \"~/$name.sh\"]" files="\"~/$name.sh\": \"$name.sh\"" ;;
	esac
	[ $name = carol ] && files+=', "~/carol.diff": "carol.diff"'
	printf '{"schema": "proctor.agent/1", "name": "%s", "command": %s, "api": "none", "files": {%s}}\n' \
		$name "$command" "$files" >agents/$name.json
	for watch in workspace regions; do
		tap_try "$name runs, watch $watch" proctor run -q --no-tty --task "$task/task.json" --agent agents/$name.json \
			--set watch=$watch --out "$watch-$name" </dev/null
	done
done
tap_is "$(run_field workspace-carol/run.json end.status)" 0 "carol's patch goes in"

# mined OPTIONS...: the regions of a run of mine in one line: "TIER PATH:START-END/MODELS/SUPPORT ..."
mined()
{
	proctor mine "$@" >regions.json 2>mine.err || { echo "status $?: $(tail -n 1 mine.err)"; return; }
	python3 - regions.json <<-'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		assert r["schema"] == "proctor.regions/1" and r["instance_id"] == "mpmath__index-1.2.1", r
		assert len(r["regions"]) <= 8
		print(r["tier"], *(f"{x['path']}:{x['start']}-{x['end']}/{'+'.join(x['models'])}/{x['support']}" for x in r["regions"]))
	EOF
}

both="$file:446-447/alice+bob+carol/2 $file:512-512/alice+bob/2"
all="$file:447-447/alice+bob+carol/3"
for watch in workspace regions; do
	runs=("$watch-alice" "$watch-bob" "$watch-carol")
	tap_is "$(mined "${runs[@]}")" "edited_by_several $both" "edits, watch $watch"
	tap_is "$(mined -a reads+edits "${runs[@]}")" "modified_main_non_noise $all" "reads and edits, watch $watch"
done
runs=(workspace-alice workspace-bob workspace-carol)
tap_is "$(mined --task "$task/task.json" -a reads+edits --min-models 2 "${runs[@]}")" \
	"modified_main_non_noise $both" "two of three, with the task"
tap_is "$(mined --max 1 "${runs[@]}")" "edited_by_several ${both%% *}" "at most one"
tap_like "$(mined --all-edits "${runs[@]}")" "^edited_by_several .*$file:99-100/alice.bob" \
	"lines that two put in and took out again"
tap_like "$(mined --lines final "${runs[@]}")" "$file:44[0-9]-4[0-9]*/alice.bob.carol" "lines of the final trees"
tap_is "$(mined --min-models 3 workspace-alice workspace-bob)" \
	"edited_by_one $(mined --min-models 1 workspace-alice workspace-bob | cut -d' ' -f2-)" "nobody agrees: what one edited"
def=$(awk 'NR <= 447 && /^    def /{n = NR} END{print n}' "$task/repo/$file")
tap_like "$(mined -a reads+edits --enclosing --task "$task/task.json" "${runs[@]}")" " $file:$def-[0-9]*/alice" \
	"a region of one line grows to its function"

# The same as trajectories of another tool: commands, outputs, and the final diff.
python3 - "$work" <<-'EOF'
	import json, os, sys
	os.chdir(sys.argv[1])
	for name in ("alice", "bob", "carol"):
	    path = f"agents/{name}.sh" if name != "bob" else "agents/bob.py"
	    text = open(path).read()
	    commands = text.splitlines() if name != "bob" else ["python3 - <<'PY'\n" + text + "PY"]
	    messages = [{"role": "user", "content": "Mend it."}]
	    for i, command in enumerate(commands):
	        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{i}", "type": "function", "function": {
	            "name": "bash", "arguments": json.dumps({"command": command})}}]})
	        messages.append({"role": "tool", "tool_call_id": f"c{i}", "content": "<returncode>0</returncode>\n<output>\n</output>"})
	    json.dump({"instance_id": "mpmath__index-1.2.1", "messages": messages, "trajectory_format": "mini-swe-agent-1.1",
	               "info": {"exit_status": "Submitted", "submission": open(f"regions-{name}/patch.diff").read(),
	                        "config": {"model": {"model_name": name}}}}, open(f"{name}.traj.json", "w"))
EOF
records=(alice.traj.json bob.traj.json carol.traj.json)
tap_is "$(mined "${records[@]}")" "edited_by_several $both" "edits, by mini-swe-agent's records"
tap_is "$(mined --format mini-swe-agent alice.traj.json workspace-bob 2>&1)" \
	"status 3: proctor: workspace-bob is a directory: give its format as \"run\", or leave the format out" \
	"a run directory is no record"
tap_is "$(mined alice.traj.json bob.traj.json workspace-carol)" "edited_by_several $both" "records and runs together"
tap_is "$(mined one=alice.traj.json one=bob.traj.json workspace-carol)" \
	"edited_by_several $file:446-447/carol+one/2" "two records of one model are one"

# Whose edits are not the agent's own, and other mistakes.
proctor run -q --no-tty --task "$task/task.json" --agent "$task/agents/careless.json" --scenario "$task/counter-edit.json" \
	--out touched </dev/null >/dev/null
tap_like "$(mined touched)" "^status 3: .*mine vanilla runs" "a run that was touched is refused"
proctor mine >out.txt 2>err.txt
tap_is "$?" 2 "no record at all"
proctor mine --max 9 alice.traj.json >out.txt 2>err.txt
tap_is "$?" 2 "more than eight"
proctor mine --format minni alice.traj.json >out.txt 2>err.txt
tap_is "$?" 3 "a format that is not there"
head -c 200 alice.traj.json >cut.json
tap_like "$(mined cut.json)" "^status 3: .*cut.json" "a record that is cut"
sed 's/mpmath__index-1.2.1/mpmath__other-1/' bob.traj.json >other.json
tap_like "$(mined alice.traj.json other.json)" "^status 3: .*mpmath__other-1" "two tasks"
sed 's/"Submitted"/"LimitsExceeded"/' bob.traj.json >limit.json
tap_is "$(mined alice.traj.json limit.json carol.traj.json)" "edited_by_several $file:447-447/alice+carol/2" \
	"who ran into a limit does not count"
tap_like "$(cat mine.err)" "limit.json did not come to its own end, but by LimitsExceeded" "and that is said"
# Names that would drive a terminal.
printf '{"instance_id":"x","trajectories":[{"model":"a\\u001b[31m","edits":[{"path":"src/\\u009b2J.py","lines":[1,2]}]}]}' >odd.json
proctor mine odd.json >out.txt 2>err.txt
tap_is "$?" 0 "odd names"
tap_is "$(LC_ALL=C tr -d '\11\12\40-\176' <err.txt | wc -c)" 0 "print as plain text"
# In the middle: inside a record, and where one ends.
cp -r workspace-carol half && cp -r workspace-carol whole
python3 - <<'END'
data = open("workspace-carol/trace.jsonl", "rb").read()
at = data.index(b"\n", len(data) // 2)
open("half/trace.jsonl", "wb").write(data[:at - 2])
open("whole/trace.jsonl", "wb").write(data[:at + 1])
END
proctor mine half >out.txt 2>err.txt
tap_like "$(cat err.txt)" "half did not come to its own end, but by a cut trace" "a run whose trace is cut does not count"
proctor mine whole >out.txt 2>err.txt
tap_like "$(cat err.txt)" "whole did not come to its own end, but by a cut trace" "nor one cut where a record ends"
echo '{"trajectories": []}' >none.json
proctor mine none.json >out.txt 2>err.txt
tap_is "$?" 1 "no regions: exit status 1"
tap_done
