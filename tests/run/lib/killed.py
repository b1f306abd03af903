"""What tests/run/killed.sh says."""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
from runlib import Tap  # noqa: E402

BLOCK = "echo touched >>other.txt; mkfifo /tmp/f; cat /tmp/f"
PHASE_SECONDS = 60


def roles(pid):
    """name -> process, of what proctor has started."""
    found, confined = {}, []
    for child in sorted(f.children(pid)):
        if f.status_field(child, "Name") == "proctor-janitor":
            found["janitor"] = child
        elif len(f.status_field(child, "NSpid").split()) > 1:
            found["init"] = child
        elif f.status_field(child, "Seccomp") == "2":
            confined.append(child)
    found.update(zip(["gateway", "services"], confined))
    found["proctor"] = pid
    return found


def lines_in(path):
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def blocked(pid):
    return any(f.name_of(p).endswith("[cat /tmp/f]") for p in f.descendants(pid))


# phase -> is it reached? By the run directory, the scratch directory and the process tree alone.
PHASES = {
    "run": {
        "begun": lambda w, out, pid: os.path.exists(os.path.join(out, "run.json")),
        "laid out": lambda w, out, pid: bool(os.listdir(w.scratch)),
        "box": lambda w, out, pid: "init" in roles(pid),
        "gateway": lambda w, out, pid: "gateway" in roles(pid),
        "asking": lambda w, out, pid: lines_in(os.path.join(out, "model.jsonl")) >= 1,
        "working": lambda w, out, pid: blocked(pid),
    },
    "grade": {
        "laid out": lambda w, out, pid: bool(os.listdir(w.scratch)),
        "box": lambda w, out, pid: "init" in roles(pid),
        "testing": lambda w, out, pid: blocked(pid),
    },
}
ROLES = ["proctor", "janitor", "init", "gateway", "services"]
# What a run says when one of them was killed; None: it says nothing itself.
EXPECTED = {"proctor": ("error", None), "janitor": ("interrupted", 0), "init": (None, 0), "gateway": ("error", 8),
            "services": ("error", 8)}


class Kill:
    """Wait for the phase and kill the role there; proctor is asked to end when that does not end it."""

    def __init__(self, world, command, out, phase, role):
        self.world, self.command, self.out, self.phase, self.role = world, command, out, phase, role
        self.reached = self.killed = False

    def __call__(self, pid):
        end = time.monotonic() + PHASE_SECONDS
        while time.monotonic() < end and f.status_field(pid, "State")[:1] not in ("Z", ""):
            if PHASES[self.command][self.phase](self.world, self.out, pid):
                self.reached = True
                break
            time.sleep(0.0005)  # only to leave the processor to proctor
        target = roles(pid).get(self.role)
        if self.reached and target:
            os.kill(target, signal.SIGKILL)
            self.killed = True
        # Without the janitor a run still cleans up for itself, as long as it is asked and not killed.
        if self.role == "janitor" and self.killed and self.command == "run":
            while not blocked(pid) and f.status_field(pid, "State")[:1] not in ("Z", ""):
                time.sleep(0.0005)
        if (self.role == "janitor" and self.command == "run") or not self.killed:
            os.kill(pid, signal.SIGTERM)


def one(world, tap, command, phase, role):
    out = world.out()
    kill = Kill(world, command, out, phase, role)
    args = world.run_args(out) if command == "run" else world.grade_args(out)
    done = world.call(args, during=kill)
    problems = world.problems(done, out, killed=role == "proctor" or not kill.killed or command == "grade")
    if not kill.killed:
        return False
    reason, status = EXPECTED[role]
    end = f.end_of(out)
    if command == "run" and phase == "working":
        if reason and end.get("reason") != reason:
            problems.append(f"run.json says {end}")
        if status is not None and done.status != status:
            problems.append(f"exit status {done.status}, not {status}: {done.err}")
        if "+touched" not in f.read(os.path.join(out, "patch.diff")):
            problems.append("the patch is not kept")
    if command == "grade" and role == "init" and os.path.exists(os.path.join(out, "verdict.json")):
        with open(os.path.join(out, "verdict.json"), encoding="utf-8") as file:
            verdict = json.load(file)
        if verdict["verdict"] != "infra":
            problems.append(f"the verdict is {verdict['verdict']}: {verdict['reason']}")
    tap.ok(not problems, f"{command}: kill -9 of {role}, phase {phase}", "\n".join(problems) + f"\n{done.status} {done.err}")
    return True


def prepare(world):
    world.make_task(work=BLOCK)
    world.json("scenario.json", {
        "schema": "proctor.scenario/1", "id": "faults", "family": "F06", "instance_id": "faults-1",
        "services": [{"name": "boss", "kind": "ask", "port": 8081, "questions": 2,
                      "blockers": [{"id": "unit", "keywords": ["unit"], "resolution": "Use seconds."}]}],
        "interventions": []})
    with open(world.path("task.json"), encoding="utf-8") as file:
        task = json.load(file)
    task["test"].update(command="sh check.sh; mkfifo /tmp/f; cat /tmp/f", timeout="5s")
    world.json("task.json", task)
    world.source = f.tree_digest(world.path("repo"))


def main():
    tap = Tap()
    with f.World() as world:
        prepare(world)
        met = set()
        for command, phases in PHASES.items():
            for phase in phases:
                for role in ROLES:
                    if one(world, tap, command, phase, role):
                        met.add((command, role))
        wanted = {("run", role) for role in ROLES} | {("grade", role) for role in ROLES[:3]}
        tap.ok(met == wanted, "every process was met in some phase", str(wanted - met))
    tap.done()


if __name__ == "__main__":
    main()
