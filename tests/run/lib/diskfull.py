"""What tests/run/diskfull.sh says. Runs in a mount namespace of its own."""
import contextlib
import ctypes
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
import inject  # noqa: E402
from runlib import Tap  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = 4096
# Sizes in pages: dense where little fits, then wider.
RUN = [3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 72, 96]
SCRATCH = [8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512]


@contextlib.contextmanager
def small(path, pages):
    """A disk of so many pages at @path."""
    os.makedirs(path, exist_ok=True)
    options = f"size={pages * PAGE},mode=755".encode()
    if LIBC.mount(b"tmpfs", path.encode(), b"tmpfs", 0, options):
        raise OSError(ctypes.get_errno(), f"mount {path}")
    try:
        yield
    finally:
        if LIBC.umount2(path.encode(), 0):
            raise OSError(ctypes.get_errno(), f"umount {path}: something still uses it")


def keep(out, copy):
    """What is on the small disk, looked at after it is gone."""
    subprocess.run(["cp", "-a", out, copy], check=False, stderr=subprocess.DEVNULL)


def small_run(world, tap):
    """The run directory's disk."""
    full = done = None
    for pages in RUN:
        disk = world.path("disk")
        with small(disk, pages):
            out = os.path.join(disk, "out")
            done = world.call(world.run_args(out))
            problems = [p for p in world.problems(done, out) if "mounts are left" not in p]
            # So little has no room to keep: run.json may say "running" for ever, the message and the status do not.
            problems = [p for p in problems if "run.json" not in p]
            if done.status and "No space left" not in done.err:
                problems.append("the message does not name the reason")
            full = full or done.status
        tap.ok(not problems, f"run directory of {pages} pages: status {done.status}", "\n".join(problems), done.err)
    tap.ok(full, "some of these disks were full")
    tap.equal(done.status, 0, "the largest of them was not")


def noisy_run(world, tap):
    """A trace that fills the disk: what comes last has its room."""
    disk = world.path("disk")
    world.make_task(work="i=0; while [ $i -lt 12000 ]; do : <file.txt; i=$((i+1)); done; echo touched >>other.txt")
    with small(disk, 320):
        out = os.path.join(disk, "out")
        done = world.call(world.run_args(out))
        problems = [p for p in world.problems(done, out) if "mounts are left" not in p]
        tap.equal(problems, [], "a trace that fills the disk: run.json has its end, every line but the last is whole", done.err)
        tap.equal(done.status, 5, "a trace that fills the disk: status 5", done.err)
        tap.ok("+touched" in f.read(os.path.join(out, "patch.diff")), "a trace that fills the disk: the patch is kept")
        tap.equal(f.end_of(out).get("reason"), "error", "a trace that fills the disk: run.json says so")
    world.make_task()


def small_scratch(world, tap, command):
    """The scratch directory's disk: the workspace, its changes, the object store."""
    statuses = set()
    for pages in SCRATCH:
        out = world.out()
        with small(world.scratch, pages):
            done = world.call(world.run_args(out) if command == "run" else world.grade_args(out))
            problems = [p for p in world.problems(done, out) if "mounts are left" not in p]
        if command == "grade":
            problems += inject.verdict_problems(done, out)
        if command == "run" and f.worked(out) and f.end_of(out).get("status") == 0 and \
                "+touched" not in f.read(os.path.join(out, "patch.diff")) and \
                "No space left" not in f.read(os.path.join(out, "stdout.log")) + f.read(os.path.join(out, "model.jsonl")):
            problems.append("the agent had worked, and the patch is not kept")
        if done.status and done.status > 1 and "No space left" not in done.err:
            problems.append("the message does not name the reason")
        statuses.add(done.status)
        tap.ok(not problems, f"{command}: scratch of {pages} pages: status {done.status}", "\n".join(problems), done.err)
    tap.ok(len(statuses) > 1 and 0 in statuses, f"{command}: some of these disks were full, and some not", statuses)


def main():
    tap = Tap()
    with f.World() as world:
        small_run(world, tap)
        noisy_run(world, tap)
        small_scratch(world, tap, "run")
        small_scratch(world, tap, "grade")
    tap.done()


if __name__ == "__main__":
    main()
