#!/usr/bin/env bash
# Hostile clients in the box and hostile endpoints outside: they cost bounded memory, a decent request is
# answered beside or behind them, and the run ends properly.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir source out
cp "$top/tests/run/lib/hostile_client.py" source/client.py
cat >task.json <<'EOF_TASK'
{ "schema": "proctor.task/1", "instance_id": "hostile-1", "problem_statement": "none", "source": "source" }
EOF_TASK
cat >script.json <<'EOF_SCRIPT'
{ "schema": "proctor.script/1", "turns": [ { "text": "yes" } ], "side": { "text": "yes" } }
EOF_SCRIPT

# agent ARGUMENT...: agent.json runs the client with these.
agent()
{
	python3 - "$@" >agent.json <<'PYTHON'
import json, sys
print(json.dumps({"schema": "proctor.agent/1", "name": "hostile", "api": "openai-chat", "base_url_env": "BASE",
                  "key_env": "KEY", "command": ["/usr/bin/python3", "client.py", *sys.argv[1:]]}))
PYTHON
}

# peak PID: megabytes that the gateway took at most: the child of PID in its own PID namespace.
peak()
{
	local child
	while read -r child; do
		if [ "$(awk '$1 == "NSpid:" { print NF }' "/proc/$child/status")" = 2 ] &&
			[ "$(awk '$1 == "Seccomp:" { print $2 }' "/proc/$child/status")" = 2 ]; then
			awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/$child/status"
		fi
	done < <(tr ' ' '\n' <"/proc/$1/task/$1/children")
}

# Bounds of the gateway's peak, in megabytes, which is never less than that of the stages before. A body of
# 64 MiB stands there several times: the request, its texts, its canonical form, the edited request. 128 MiB of bodies
# may be under way, in buffers that grow by doubling; how many of them grow at once depends on who runs when.
declare -A bound=([numbers]=300 [over]=300 [large]=800 [escapes]=800)
usual=100

# stages NAME MODEL BOUND SETTING...: run the client; each of its stages is well and within its bound.
stages()
{
	local name=$1 model=$2 most=$3 line stage mb out=$work/out/$1 pid status setting
	local -a set=(--set model.retries=0)
	shift 3
	for setting in "$@"; do
		set+=(--set "$setting")
	done
	coproc RUN { exec timeout 600 "$PROCTOR" run -q --no-tty --task task.json --agent agent.json --model "$model" \
		"${set[@]}" --out "$out" 2>"$name.err"; }
	pid=$RUN_PID
	# timeout(1) has one child: proctor.
	while IFS= read -r line <&"${RUN[0]}"; do
		if [ "$line" = "the end" ]; then
			break
		fi
		[[ $line == stage* ]] || continue
		stage=${line#stage }
		stage=${stage%%:*}
		# shellcheck disable=SC2046 # one word
		mb=$(peak $(cat "/proc/$pid/task/$pid/children"))
		tap_is "${line#*: }" ok "$name: $stage"
		most=${bound[$stage]:-$most}
		if [ -n "${ASAN_OPTIONS-}" ]; then
			tap_skip "$name: $stage: memory" "sanitizer: it takes more memory by itself"
		else
			tap_ok $((${mb:-999999} > most)) "$name: $stage: the gateway took at most ${mb:-?} MB, less than $most"
		fi
		echo >&"${RUN[1]}"
	done
	wait "$pid"
	status=$?
	tap_is $status 0 "$name: the run ends" || tail -n 5 "$name.err" | sed 's/^/# /'
	tap_is "$(run_field "$out/run.json" end.reason) $(run_field "$out/run.json" end.status)" "exited 0" \
		"$name: as the client does"
	tap_ok "$(python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$out/model.jsonl" 2>/dev/null; echo $?)" "$name: the record is whole"
	rm -rf "$out"
}

agent
stages clients script:script.json $usual limits.disk=0 limits.wall=10m

# What an endpoint can do, and what the gateway may take for it.
faults="endless  200
        headers  $usual
        drip     $usual  model.timeout=3s
        long     $usual
        short    $usual
        gzip     $usual
        redirect $usual
        http09   $usual
        badchunk $usual
        silence  $usual  model.timeout=2s
        echokey  $usual
        html     $usual"
agent upstream
export PROCTOR_MODEL_KEY=secret-key-of-this-test
while read -r fault most settings; do
	coproc FAKE { exec timeout 300 python3 "$top/tests/tools/fakemodel.py"; }
	server=$FAKE_PID
	server_in=${FAKE[1]}
	read -r _ port <&"${FAKE[0]}"
	# shellcheck disable=SC2086 # the settings are words
	stages "$fault" "http://127.0.0.1:$port/f/$fault*2/v1#m" "$most" $settings 2>/dev/null
	exec {server_in}>&-
	wait "$server"
done <<<"$faults"
tap_done
