"""A stand-in for an agent that takes its messages through a protocol of its own, for tests/run/native.sh.

usage: native_agent.py PROTOCOL WAY

Reads lines 5 and 6 of f.txt with a command, waits for a message, and writes what it was told to
said.txt. WAY: "plain"; "late": the turn ends before the message is read; "deaf": it exits instead of
reading it; "shut": it closes its input first; "loud": it begins with lines without end or sense."""
import json
import os
import subprocess
import sys

PROTOCOL, WAY = sys.argv[1:3]


def note(kind, text=None):
    with open("said.txt", "a", encoding="utf-8") as f:
        f.write(kind if text is None else f"{kind}: {json.dumps(text)}")
        f.write("\n")


def emit(**fields):
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def work():
    if WAY == "shut":
        os.close(0)
    subprocess.run(["sed", "-n", "5,6p", "f.txt"], stdout=subprocess.DEVNULL, check=True)
    if WAY == "deaf" or WAY == "shut":
        sys.exit(0)


def pi():
    streaming = False
    while (line := receive()) is not None:
        if line["type"] == "get_state":
            emit(id=line["id"], type="response", command="get_state", success=True,
                 data={"isStreaming": streaming, "isCompacting": False, "pendingMessageCount": 0})
            continue
        emit(id=line["id"], type="response", command="prompt", success=True)
        if streaming:
            note("steered", line["message"])
        else:
            first = not os.path.exists("said.txt")
            note("prompt" if first else "turn", line["message"])
            emit(type="agent_start")
            if first:
                work()
                streaming = WAY != "late"
                if streaming:
                    continue
        streaming = False
        emit(type="agent_end", messages=[])
    note("end of input")


def text_of(params):
    return "".join(part["text"] for part in params["input"])


def codex():
    turns = 0
    active = None
    while (line := receive()) is not None:
        method, params = line["method"], line.get("params")
        if method == "initialize":
            emit(id=line["id"], result={"userAgent": params["clientInfo"]["name"]})
        elif method == "thread/start":
            emit(id=line["id"], result={"thread": {"id": "thread-1"}})
            emit(method="thread/started", params={"thread": {"id": "thread-1"}})
        elif method == "turn/start":
            turns += 1
            active = f"turn-{turns}"
            note("prompt" if turns == 1 else "turn", text_of(params))
            emit(id=line["id"], result={"turn": {"id": active, "items": []}})
            emit(method="turn/started", params={"threadId": "thread-1", "turn": {"id": active}})
            emit(id=0, method="item/commandExecution/requestApproval", params={})
            if turns == 1:
                answer = receive()
                assert answer == {"id": 0, "result": {"decision": "accept"}}, answer
                work()
            if turns > 1 or WAY == "late":
                emit(method="turn/completed",
                     params={"threadId": "thread-1", "turn": {"id": active}})
                active = None
        elif method == "turn/steer" and params["expectedTurnId"] == active:
            note("steered", text_of(params))
            emit(id=line["id"], result={"turnId": active})
            emit(method="turn/completed", params={"threadId": "thread-1", "turn": {"id": active}})
            active = None
        elif method == "turn/steer":
            emit(id=line["id"], error={"code": -32600, "message": "no active turn to steer"})
    note("end of input")


def claude():
    first = True
    while (line := receive()) is not None:
        text = line["message"]["content"]
        emit(type="system", subtype="init", tools=["Bash"])
        emit(**dict(line, isReplay=True))
        note("prompt" if first else "turn", text)
        if first:
            first = False
            work()
            if WAY != "late":
                line = receive()
                note("steered", line["message"]["content"])
                emit(**dict(line, isReplay=True))
        emit(type="result", subtype="success", is_error=False, result="done")
    note("end of input")


if WAY == "loud":
    sys.stdout.write("not JSON\n[[[[\n{\"type\":\"agent_end\n\n\0\0\n" + "[" * 100000 + "\n")
    for _ in range(18):
        sys.stdout.write("x" * (1 << 20))
    sys.stdout.write("\n{\"id\":4711,\"result\":{}}\n")
{"pi-rpc": pi, "codex-app-server": codex, "claude-stream-json": claude}[PROTOCOL]()
