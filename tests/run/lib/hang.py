"""What tests/run/hang.sh says."""
import json
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
import killed  # noqa: E402
from runlib import Tap  # noqa: E402

LIMIT = 2  # seconds
DOG = {"PROCTOR_WATCHDOG": str(LIMIT)}


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.002)
    return what()


def hang_of(out):
    try:
        with open(os.path.join(out, "hang.json"), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        return {"why": "there is no hang.json", "processes": []}


def silent_peer(world, tap, role, says):
    """A stopped process answers nothing; the supervisor has to notice."""
    out = world.out()
    met = {}

    def stop(pid):
        if wait_for(lambda: killed.blocked(pid)):
            met["pid"] = killed.roles(pid)[role]
            os.kill(met["pid"], signal.SIGSTOP)

    done = world.call(world.run_args(out), during=stop, env=DOG)
    hang = hang_of(out)
    tap.equal(world.problems(done, out), [], f"{role} stopped: nothing is left, and the message is right", done.err)
    tap.equal(done.status, 8, f"{role} stopped: the status says that a process of ours has failed", done.err)
    tap.ok(says in hang["why"], f"{role} stopped: hang.json says who is silent", hang["why"])
    states = {p["pid"]: (p["state"], p["wchan"], p["syscall"]) for p in hang["processes"]}
    tap.ok(states.get(met.get("pid"), ("",))[0] == "T", f"{role} stopped: and shows it", states, met)
    tap.ok(any(p["name"] == "cat" and p["state"] == "S" for p in hang["processes"]), f"{role} stopped: with the agent's tree", states)
    tap.ok("+touched" in f.read(os.path.join(out, "patch.diff")), f"{role} stopped: the patch is kept")


def only_stopped(world, tap):
    """Whoever stops proctor and lets it go on later finds the run as it was."""
    out = world.out()

    def stop(pid):
        if wait_for(lambda: killed.blocked(pid)):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(2.5 * LIMIT)  # the time itself is what is tested
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)

    done = world.call(world.run_args(out), during=stop, env=DOG)
    tap.equal(world.problems(done, out), [], "proctor stopped and continued: nothing is left")
    tap.equal((done.status, f.end_of(out).get("reason")), (0, "interrupted"), "proctor stopped and continued: the run goes on", done.err)
    tap.ok(not os.path.exists(os.path.join(out, "hang.json")), "proctor stopped and continued: no hang")


def full_pipe(world, tap):
    """Nobody reads proctor's standard output, and the agent prints more than the pipe takes: a pager at its end."""
    out = world.out()
    env = dict(world.env, **DOG)
    with subprocess.Popen([f.PROCTOR, "run", "--no-tty", "--out", out, "--", "sh", "-c", "head -c 1000000 /dev/zero; sleep 0.1"],
                          cwd=world.path("repo"), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        wait_for(lambda: os.path.exists(os.path.join(out, "stdout.log")))
        time.sleep(2.5 * LIMIT)
        text = child.stdout.read()
        status = child.wait()
    tap.ok(not os.path.exists(os.path.join(out, "hang.json")), "a reader that is slow is no hang", hang_of(out))
    tap.equal((status, len(text) >= 1000000), (0, True), "a reader that is slow: it gets everything in the end")


def main():
    tap = Tap()
    with f.World() as world:
        killed.prepare(world)
        silent_peer(world, tap, "gateway", "gateway has not answered")
        silent_peer(world, tap, "services", "services' process has not answered")
        only_stopped(world, tap)
        full_pipe(world, tap)
        world.make_task()
        world.source = f.tree_digest(world.path("repo"))
    tap.done()


if __name__ == "__main__":
    main()
