#!/usr/bin/env bash
# doctor --agents: what is installed where and in which version, the line that installs the rest; and
# that a run of an agent that is not there says the same.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
export PROCTOR_AGENTS=$work/agents HOME=$work/home PATH=/usr/bin:/bin
clients="pi codex claude gemini continue copilot grok qwen opencode kilo cline"

proctor doctor --agents >none.txt 2>&1
tap_is $? 1 "no agent is installed: status 1"
for name in $clients; do
	tap_like "$(grep "^$name " none.txt)" "MISSING +npm install --prefix $PROCTOR_AGENTS/$name .*@[0-9]" \
		"$name: the line that installs it"
done

package=$PROCTOR_AGENTS/pi/node_modules/@mariozechner/pi-coding-agent
mkdir -p "$package" "$PROCTOR_AGENTS/pi/node_modules/.bin" "$HOME/.local/share/proctor/agents"
printf '{"version": "9.8.7"}\n' >"$package/package.json"
cat >"$package/cli.js" <<'EOF'
#!/bin/sh
echo "it runs from $0"
EOF
chmod 755 "$package/cli.js"
ln -s ../@mariozechner/pi-coding-agent/cli.js "$PROCTOR_AGENTS/pi/node_modules/.bin/pi"
proctor doctor --agents >one.txt 2>&1
tap_is $? 0 "one is: status 0"
tap_like "$(grep '^pi ' one.txt)" "9\.8\.7 +$PROCTOR_AGENTS/pi/node_modules/.bin/pi" "where, and its version"
tap_like "$(grep '^pi-gemini ' one.txt)" "9\.8\.7" "a second agent file for the same installation"
proctor doctor --agents --json >one.json 2>&1
tap_is "$(run_field one.json schema)" proctor.doctor/1 "as JSON"
tap_is "$(run_field one.json agents.pi.installed)" true "found"
tap_is "$(run_field one.json agents.pi.version)" 9.8.7 "version"
tap_is "$(run_field one.json agents.pi.directory)" "$(realpath "$PROCTOR_AGENTS/pi")" "directory"
tap_is "$(run_field one.json agents.codex.installed)" false "not found"
tap_like "$(run_field one.json agents.codex.install)" "^npm install --prefix .*@openai/codex@" "how to install it"
tap_is "$(find "$PROCTOR_AGENTS" -mindepth 1 -maxdepth 1 | wc -l)" 1 "nothing was installed"

printf '{ "schema": "proctor.script/1", "turns": [] }\n' >script.json
said=$(proctor run --task "$top/examples/calc/task.json" --agent codex --model script:script.json \
	--out codex 2>&1 </dev/null)
tap_is $? 4 "a run of one that is not there: status 4"
tap_like "$said" "npm install --prefix $PROCTOR_AGENTS/codex @openai/codex@" "with the same line"

# The directory is bound in the box, also when it is closed to others.
chmod 700 "$PROCTOR_AGENTS" "$PROCTOR_AGENTS/pi"
proctor run -q --task "$top/examples/calc/task.json" --agent pi --model script:script.json --no-tty \
	--out pi >out.txt 2>&1 </dev/null
tap_is $? 0 "an installation closed to others runs" || sed 's/^/# /' out.txt
tap_like "$(cat pi/stdout.log)" "it runs from /opt/agent/node_modules/.bin/pi" "below /opt/agent"
tap_is "$(run_field pi/run.json end.status)" 0 "it ends well"
tap_done
