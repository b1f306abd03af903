"""What tests/run/stress.sh says.

usage: stress.py SECONDS
"""
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
from runlib import Tap, have  # noqa: E402

# What agents' builds and tests strain, and what a tracer could trip over.
STRESSORS = ["fork", "vfork", "exec", "pthread", "dentry", "dir", "rename", "link", "symlink", "open", "pipe", "sock",
             "sigq", "kill", "mmap", "futex", "poll", "eventfd", "flock", "get", "switch", "zombie", "unshare", "ptrace"]
MEMORY = 8 << 20
PER_PROCESS = 2 << 10


class Peak(threading.Thread):
    """Memory of proctor and processes of the box, at most; looked at once in a while."""

    def __init__(self):
        super().__init__(daemon=True)
        self.pid, self.rss, self.processes, self.over = None, 0, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            kb = f.status_field(self.pid, "VmHWM").split()
            if kb:
                self.rss = max(self.rss, int(kb[0]) << 10)
            self.processes = max(self.processes, len(f.descendants(self.pid)))

    def __call__(self, pid):
        self.pid = pid
        self.start()


def main():
    seconds = int(sys.argv[1])
    tap = Tap()
    if not have("stress-ng"):
        tap.ok(False, "stress-ng is there (.ci/packages)")
        tap.done()
    with f.World() as world:
        out, peak = world.out(), Peak()
        each = max(seconds // len(STRESSORS), 1)
        script = "echo touched >>other.txt; for s in " + " ".join(STRESSORS) + \
                 f"; do stress-ng -q --$s 2 --timeout {each}s --temp-path /tmp; done; exit 0"
        begin = time.monotonic()
        done = world.call(["run", "-q", "--no-tty", "--task", world.path("task.json"), "--out", out, "--set",
                           "limits.processes=20000", "--set", "limits.output=64M", "--", "sh", "-c", script],
                          during=peak, seconds=4 * seconds + 300)
        peak.over.set()
        took = time.monotonic() - begin
        tap.equal(world.problems(done, out), [], f"stress-ng for {took:.0f} s: nothing is left, nothing is lost", done.err)
        end = f.end_of(out)
        tap.ok(done.status == 0 and end.get("reason") == "exited", "the run ends by itself", end, done.err)
        tap.ok("+touched" in f.read(os.path.join(out, "patch.diff")), "the patch is kept")
        bound = 4 * MEMORY + peak.processes * PER_PROCESS
        tap.ok(0 < peak.rss <= bound, f"proctor took {peak.rss >> 10} KiB with {peak.processes} processes, at most {bound >> 10}")
        size = os.path.getsize(os.path.join(out, "trace.jsonl"))
        tap.ok(size > 10000, f"the trace has {size >> 10} KiB")
        print(f"# {len(STRESSORS)} stressors, {each} s each", flush=True)
    tap.done()


if __name__ == "__main__":
    main()
