"""What tests/run/inject.sh says: the n-th call of a kind fails, for many n, in a run and in a grading.

usage: inject.py [--all SECONDS] [--kinds a,b] [--at N] [--verbose]
   --all SECONDS   every n of every kind, in an order that spreads, until the time is up (the full lane)
   --at N          only this n (with --kinds: to look at one failure again)
"""
import argparse
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import errno  # noqa: E402
import faultlib as f  # noqa: E402
from runlib import Tap  # noqa: E402

# kind -> the error its calls fail with; 0 = the process that makes it is killed
RUN = [("alloc", errno.ENOMEM), ("mount", errno.EPERM), ("clone", errno.EAGAIN), ("write", errno.EIO),
       ("disk", errno.ENOSPC), ("open", errno.EMFILE), ("fsync", errno.EIO), ("ptrace", errno.EPERM),
       ("seccomp", errno.EINVAL), ("make", errno.ENOSPC), ("pipe", errno.EMFILE)]
FAST = 5  # of each kind and command


def spread(total, count=None):
    """1..total in an order whose every beginning is spread: by the bits of the index, reversed."""
    bits = max(total - 1, 1).bit_length()
    order = [int(format(i, f"0{bits}b")[::-1], 2) + 1 for i in range(1 << bits)]
    order = [n for n in order if n <= total]
    return order if count is None else sorted(order[:count])


def verdict_problems(done, out):
    """A fault of the machine is nobody's result: the patch is right, so there is no verdict, "resolved" or "infra"."""
    try:
        with open(os.path.join(out, "verdict.json"), encoding="utf-8") as file:
            verdict = json.load(file)
    except OSError:
        return [] if done.status and done.status > 1 else [f"status {done.status} without a verdict"]
    kind = verdict.get("verdict")
    bad = [] if kind in ("resolved", "infra") else [f"the verdict is {kind}: {verdict.get('reason')}"]
    if done.status == 0 and kind != "resolved" or done.status == 1 and kind != "infra":
        bad.append(f"status {done.status} with the verdict {kind}")
    if kind == "infra" and not verdict.get("reason"):
        bad.append("infra without a reason")
    return bad


class Walk:
    def __init__(self, world, tap, verbose):
        self.world, self.tap, self.verbose = world, tap, verbose
        self.walked = {}
        self.bad = 0

    def command(self, name, out):
        return self.world.run_args(out) if name == "run" else self.world.grade_args(out)

    def good(self, name):
        """The run without a fault: how many calls of each kind there are, and what comes of it."""
        out = self.world.out()
        done = self.world.call(self.command(name, out), inject="")
        problems = self.world.problems(done, out)
        if done.status != 0 or problems:
            raise SystemExit(f"Bail out! the good {name} failed: {done.status} {done.err} {problems}")
        return done.page, f.read(os.path.join(out, "patch.diff"))

    def one(self, name, kind, n, error, patch):
        """A call with one fault. Its problems, as text."""
        out = self.world.out()
        done = self.world.call(self.command(name, out), inject=f"{kind}:{n}:{error}" if error else f"{kind}:{n}:kill")
        problems = self.world.problems(done, out, killed=not error)
        kept = f.read(os.path.join(out, "patch.diff"))
        if name == "run" and f.worked(out) and "+touched" not in kept:
            problems.append("the agent had worked, and the patch is not kept")
        if name == "run" and done.status == 0 and kept != patch and f.end_of(out).get("status") == 0:
            problems.append("status 0, and the patch is another one")
        if name == "grade" and error:
            problems += verdict_problems(done, out)
        # libseccomp has no hook for its memory, and does not survive without: what is left behind still counts.
        if kind == "alloc" and b"libseccomp" in done.page["object"]:
            problems = [p for p in problems if " left" in p or "source" in p]
        if self.verbose or problems:
            said = done.err.strip().replace("\n", " | ")
            print(f"# {name} {kind}:{n}: status {done.status}, {f.where(done.page)}: {said}", flush=True)
        for p in problems:
            print(f"#   {p}", flush=True)
        self.bad += bool(problems)
        return problems

    def kind(self, name, kind, error, ns, patch, end):
        problems, walked = [], 0
        for n in ns:
            if time.monotonic() > end:
                break
            problems += self.one(name, kind, n, error, patch)
            walked += 1
        how = "fails" if error else "kills"
        self.tap.ok(walked and not problems, f"{name}: {kind} {how} at {walked} of {len(ns)} places")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", type=float)
    parser.add_argument("--kinds")
    parser.add_argument("--at", type=int)
    parser.add_argument("--commands", default="run,grade")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tap = Tap()
    begin = time.monotonic()
    names = args.commands.split(",")
    rows = [(k, 0 if args.kill else e) for k, e in RUN if not args.kinds or k in args.kinds.split(",")]
    with f.World() as world:
        walk = Walk(world, tap, args.verbose)
        left = len(names) * len(rows)
        for name in names:
            page, patch = walk.good(name)
            for kind, error in rows:
                total = page[kind]
                now = time.monotonic()
                end = now + (args.all - (now - begin)) / left if args.all else now + f.WATCHDOG
                left -= 1
                if total:
                    ns = [args.at] if args.at else spread(total, None if args.all else FAST)
                    walk.kind(name, kind, error, ns, patch, end)
    tap.done()


if __name__ == "__main__":
    main()
