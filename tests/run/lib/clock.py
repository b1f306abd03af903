"""What tests/run/clock.sh says."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
from runlib import Tap  # noqa: E402

DAY = 86400
LIMITS = ["--set", "limits.wall=2m"]


def run_json(out):
    with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
        return json.load(file)


def judge(world, tap, name, done, out, good):
    """The run is as the one without a jump."""
    tap.equal(world.problems(done, out), [], f"{name}: nothing is left, nothing is lost", done.err)
    tap.equal((done.status, f.end_of(out).get("reason"), f.end_of(out).get("status")), (0, "exited", 0), f"{name}: the run ends well",
              done.err)
    tap.equal(f.read(os.path.join(out, "patch.diff")), good, f"{name}: the patch is the same")
    run = run_json(out)
    tap.ok(0 < run["times"]["wall_ns"] < 120 * 10**9, f"{name}: the time it took is no day", run["times"])
    used = {b["name"]: b["used"] for b in run["budgets"]}
    tap.ok(used.get("wall", 0) < 120 * 10**9, f"{name}: nor is what counts for the limit", used)
    times = [r["t"] for r in f.lines_of(os.path.join(out, "trace.jsonl")) if "t" in r]
    tap.ok(times == sorted(times) and len(times) > 20, f"{name}: the records are in order, {len(times)} of them")


def main():
    tap = Tap()
    with f.World() as world:
        out = world.out()
        done = world.call(world.run_args(out, *LIMITS), clock=0)
        good = f.read(os.path.join(out, "patch.diff"))
        judge(world, tap, "no jump", done, out, good)
        for jump in (DAY, -DAY, 20 * 365 * DAY):
            out = world.out()
            done = world.call(world.run_args(out, *LIMITS), clock=jump)
            tap.ok(done.page["clock"] > 4, f"{jump} s: the clock was looked at {done.page['clock']} times")
            judge(world, tap, f"{jump} s", done, out, good)
            out = world.out()
            done = world.call(world.grade_args(out), clock=jump)
            tap.equal(world.problems(done, out), [], f"{jump} s: grade leaves nothing", done.err)
            tap.equal(done.status, 0, f"{jump} s: the verdict is the same", done.err)
        if os.geteuid() == 0:
            out = world.out()
            plain, f.PROCTOR = f.PROCTOR, "/usr/bin/unshare"
            done = world.call(["--time", "--monotonic", str(10 * DAY), "--boottime", str(10 * DAY), "--fork", plain,
                               *world.run_args(out, *LIMITS)])
            f.PROCTOR = plain
            judge(world, tap, "monotonic clock of another time namespace", done, out, good)
    tap.done()


if __name__ == "__main__":
    main()
