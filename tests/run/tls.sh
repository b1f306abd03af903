#!/usr/bin/env bash
# A live endpoint over TLS and HTTP/2: its certificate is checked, also by name; the key arrives there.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
command -v node >/dev/null || { tap_skip "HTTP/2" "node: no server that speaks it"; tap_done; }

# A certificate authority and a certificate for localhost by it.
{
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=proctor test authority" -keyout ca.key -out ca.pem
	openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout key.pem -out server.csr
	printf 'subjectAltName=DNS:localhost\n' >ext
	openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out cert.pem
} >openssl.log 2>&1
tap_ok $? "certificates are made"

cat >server.js <<'J'
const http2 = require("http2"), fs = require("fs");
const server = http2.createSecureServer({ key: fs.readFileSync("key.pem"), cert: fs.readFileSync("cert.pem") });
server.on("stream", (stream, head) => {
	let body = "";
	stream.on("data", (part) => { body += part; });
	stream.on("end", () => {
		fs.appendFileSync("seen.jsonl", JSON.stringify({ path: head[":path"], auth: head.authorization,
			model: JSON.parse(body).model }) + "\n");
		stream.respond({ ":status": 200, "content-type": "application/json" });
		stream.end(JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model: "m", choices: [ { index: 0,
			message: { role: "assistant", content: "over HTTP/2" }, finish_reason: "stop" } ],
			usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }));
	});
});
server.listen(0, "127.0.0.1", () => fs.writeFileSync("port", String(server.address().port)));
J
mkfifo up
node server.js >server.log 2>&1 3<>up &
server=$!
trap 'kill $server; chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT
for ((i = 0; i < 600 && $(cat port 2>/dev/null || echo 0) == 0; i++)); do
	read -rt 0.1 _ <>up
done
port=$(cat port)

mkdir repo
echo x >repo/f
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "tls-1", "problem_statement": "none", "source": "repo" }
J
cat >ask.py <<'J'
import os, urllib.request, urllib.error
req = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", b'{"model":"x","messages":[{"role":"user","content":"hi"}]}',
                             {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
try:
    print(urllib.request.urlopen(req).read().decode())
except urllib.error.HTTPError as e:
    print(e.code, e.read().decode())
J
cat >agent.json <<'J'
{ "schema": "proctor.agent/1", "name": "asks", "api": "openai-chat", "command": ["python3", "~/ask.py"], "files": {"~/ask.py": "ask.py"},
  "base_url_env": "OPENAI_BASE_URL", "key_env": "OPENAI_API_KEY" }
J

# ask NAME HOST [VARIABLE=VALUE...]
ask()
{
	local name=$1 host=$2
	shift 2
	env "$@" PROCTOR_MODEL_KEY=real-key-1 "$PROCTOR" run -q --no-tty --task task.json --agent agent.json \
		--model "https://$host:$port/v1#m" --set model.retries=0 --out "$name" </dev/null >"$name.txt" 2>"$name.err"
}

ask good localhost "SSL_CERT_FILE=$work/ca.pem"
tap_like "$(cat good.txt)" "over HTTP/2" "an authority that is trusted: the answer comes over HTTP/2"
tap_like "$(cat seen.jsonl)" '"auth":"Bearer real-key-1","model":"m"' "with the real key and the pinned model"
tap_is "$(run_field good/run.json model.input_tokens)" 7 "and is metered"
ask stranger localhost
tap_like "$(cat stranger.txt)" "502.*certificate" "an authority that is not: 502, and why: $(cut -c1-300 stranger.txt)"
ask other 127.0.0.1 "SSL_CERT_FILE=$work/ca.pem"
tap_like "$(cat other.txt)" "502.*certificate" "a certificate of another name: 502: $(cut -c1-300 other.txt)"
tap_is "$(wc -l <seen.jsonl)" 1 "neither got a request through"
tap_ok "$(! grep -rq real-key-1 good stranger other good.txt stranger.txt other.txt; echo $?)" "the key is in no file of the runs"
tap_done
