"""Helpers of the whole-run tests in Python: TAP, a workspace, one run, its records."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROCTOR = os.environ.get("PROCTOR", "build/supervisor/proctor")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def ok(self, good, name, *notes):
        self.n += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        if not good:
            for note in notes:
                for line in str(note).splitlines():
                    print(f"#   {line}")
        sys.stdout.flush()
        return good

    def equal(self, got, want, name, *notes):
        return self.ok(got == want, name, f"got:  {got!r}", f"want: {want!r}", *notes)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}")

    def done(self):
        print(f"1..{self.n}")
        sys.exit(1 if self.bad else 0)


class Place:
    """A temporary directory with a task, an agent and runs; removed at the end."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="proctor-run-")
        self.runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["chmod", "-R", "u+rwX", self.dir], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(text, str) else "wb") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def json(self, name, value):
        return self.write(name, json.dumps(value, indent=1))

    def task(self, **more):
        value = {"schema": "proctor.task/1", "instance_id": "test-1", "source": "repo",
                 "workdir": "/workspace", "problem_statement": "none"}
        value.update(more)
        return self.json("task.json", value)

    def agent(self, script, **more):
        self.write("agent.sh", script)
        value = {"schema": "proctor.agent/1", "name": "script", "api": "none",
                 "command": ["sh", "~/agent.sh"], "files": {"~/agent.sh": "agent.sh"},
                 "message_via": "file:/tmp/user-message.txt"}
        value.update(more)
        return self.json("agent.json", value)

    def scenario(self, regions, interventions=(), mode="edit+message", **more):
        value = {"schema": "proctor.scenario/1", "id": "test", "instance_id": "test-1",
                 "family": "counter-edit", "mode": mode, "regions": regions,
                 "interventions": list(interventions)}
        value.update(more)
        return self.json("scenario.json", value)

    def run(self, *args, timeout=300):
        """proctor run ARGS into a new run directory; returns Run."""
        self.runs += 1
        out = self.path(f"out{self.runs}")
        done = subprocess.run([PROCTOR, "run", "-q", "--out", out, *args], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=timeout, check=False)
        return Run(out, done)


class Run:
    def __init__(self, out, done):
        self.out = out
        self.status = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr.decode(errors="replace")

    def file(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def json(self):
        return json.loads(self.file("run.json"))

    def lines(self, name):
        return [json.loads(line) for line in self.file(name).splitlines()]

    def records(self, *kinds):
        return [r for r in self.lines("trace.jsonl") if r.get("k") in kinds]

    def commands(self):
        """Command id -> its argv."""
        return {r["cmd"]: r["argv"] for r in self.records("command")}


def have(program):
    return shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is not None
