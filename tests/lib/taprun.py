#!/usr/bin/env python3
"""Run test programs that print TAP and count every assertion.

usage: taprun.py [-j N] [-t SECONDS] [-v] LIST

LIST (or "-") holds one test a line: LABEL <tab> USER <tab> COMMAND [<tab> SECONDS], where USER is
"-" for the caller or the name of a user to become (root only), COMMAND is split as a shell would,
and SECONDS replaces -t.

Each test has a watchdog: when its time is up the process tree is shown and everything it started
is killed. What a test leaves behind is a failure of the test: processes, scratch directories, and,
over the whole run, mounts and control groups. With MUST_WORK=1 a skip whose reason does not begin
with a name from tests/expected-skips is a failure. The last line is "N passed, N failed, N
skipped"; the exit status is 1 when something failed.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import os
import pathlib
import pwd
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LINE = re.compile(r"^(not )?ok\b *(\d+)?(?: *-)? *(.*)$")
SKIP = re.compile(r"#\s*skip\S*\s*(.*)", re.I)
TODO_MARK = re.compile(r"#\s*todo\b", re.I)
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?\s*$", re.I)
OUTPUT_MAX = 64 << 20
GRACE = 2.0  # seconds a leftover process may need to go away by itself


def expected_skips():
    path = TOP / "tests" / "expected-skips"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split("#")[0].strip() for line in lines} - {""}


class Result:
    def __init__(self, label):
        self.label, self.passed, self.skipped = label, 0, 0
        self.failures, self.notes, self.seconds = [], [], 0.0
        self.output = ""


def parse(text, status, res, must_work, allowed):
    """Count the assertions of one program's output into res."""
    plan, seen = None, 0
    for line in text.splitlines():
        found = PLAN.match(line)
        if found:
            plan = int(found.group(1))
            if plan == 0:
                count_skip("all of it", found.group(2) or "no reason", res, must_work, allowed)
            continue
        if line.startswith("Bail out!"):
            res.failures.append(line)
            continue
        found = LINE.match(line)
        if not found:
            continue
        seen += 1
        name = found.group(3)
        skip = SKIP.search(name)
        if found.group(1) and not TODO_MARK.search(name):
            res.failures.append(name or f"assertion {seen}")
        elif skip:
            count_skip(name[: skip.start()].strip(), skip.group(1), res, must_work, allowed)
        else:
            res.passed += 1
    if plan is None:
        res.failures.append("no plan: the program ended early")
    elif plan not in (seen, 0):
        res.failures.append(f"planned {plan} assertions, saw {seen}")
    if status and not res.failures:
        what = f"signal {-status}" if status < 0 else f"exit status {status}"
        res.failures.append(f"ended with {what}")


def count_skip(name, reason, res, must_work, allowed):
    key = re.split(r"[:\s]", reason.strip())[0]
    if must_work and key not in allowed:
        res.failures.append(f"{name}: skipped ({reason}), and MUST_WORK is set")
    else:
        res.skipped += 1
        res.notes.append(f"skip {name}: {reason}")


def processes():
    """pid -> (ppid, state, session) of everything visible."""
    table = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = pathlib.Path("/proc", entry, "stat").read_text(errors="replace")
        except OSError:
            continue
        rest = text[text.rindex(")") + 2 :].split()
        table[int(entry)] = (int(rest[1]), rest[0], int(rest[3]))
    return table


def belongs(pid, session, leader, mark):
    if session == leader:
        return True
    try:
        return mark in pathlib.Path("/proc", str(pid), "environ").read_bytes()
    except OSError:
        return False


def leftovers(leader, mark):
    return [
        pid
        for pid, (_, state, session) in processes().items()
        if pid != leader and state != "Z" and belongs(pid, session, leader, mark)
    ]


def wait_gone(pids, seconds):
    """Wait until all pids are gone; returns those that are not."""
    end = time.monotonic() + seconds
    left = []
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            continue
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        if not poll.poll(max(0, (end - time.monotonic()) * 1000)):
            left.append(pid)
        os.close(fd)
    return left


def kill_all(leader, mark):
    for _ in range(20):
        pids = leftovers(leader, mark)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        wait_gone(pids, 1)


def tree_text(leader, mark):
    pids = sorted({leader, *leftovers(leader, mark)} | descendants(leader))
    cmd = ["ps", "-o", "pid,ppid,pgid,stat,wchan:24,time,args", "-p", ",".join(map(str, pids))]
    done = subprocess.run(cmd, capture_output=True, text=True, check=False)
    return done.stdout


def descendants(root):
    table, found = processes(), {root}
    grown = True
    while grown:
        grown = False
        for pid, (ppid, _, _) in table.items():
            if ppid in found and pid not in found:
                found.add(pid)
                grown = True
    return found


class Runner:
    def __init__(self, args):
        self.args = args
        self.must_work = os.environ.get("MUST_WORK") == "1"
        self.allowed = expected_skips()
        self.base = tempfile.mkdtemp(prefix="taprun-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        self.lock = threading.Lock()
        self.serial = 0
        self.running = {}  # pid of a test -> its mark

    def prefix(self, user):
        if user == "-":
            return []
        row = pwd.getpwnam(user)
        ids = [f"--reuid={row.pw_uid}", f"--regid={row.pw_gid}", "--clear-groups"]
        return ["setpriv", *ids, "env", f"HOME={row.pw_dir}", f"USER={user}", f"LOGNAME={user}"]

    def scratch(self, user):
        with self.lock:
            self.serial += 1
            path = os.path.join(self.base, str(self.serial))
        os.mkdir(path, 0o755)
        if user != "-":
            row = pwd.getpwnam(user)
            os.chown(path, row.pw_uid, row.pw_gid)
        return path

    def run(self, label, user, command, seconds=None):
        res = Result(label)
        seconds = int(seconds or self.args.timeout)
        tmp = self.scratch(user)
        mark = f"TAPRUN_MARK={tmp}".encode()
        env = dict(os.environ, TMPDIR=tmp, TAPRUN_MARK=tmp)
        start = time.monotonic()
        with tempfile.TemporaryFile() as out:
            try:
                proc = subprocess.Popen(
                    self.prefix(user) + shlex.split(command), stdin=subprocess.DEVNULL, stdout=out,
                    stderr=subprocess.STDOUT, env=env, start_new_session=True)
            except OSError as why:
                res.failures.append(f"cannot be started: {why}")
                return res
            self.running[proc.pid] = mark
            try:
                status = proc.wait(seconds)
            except subprocess.TimeoutExpired:
                res.failures.append(f"still running after {seconds} s")
                res.notes.append(tree_text(proc.pid, mark))
                kill_all(proc.pid, mark)
                proc.kill()
                status = proc.wait()
            res.seconds = time.monotonic() - start
            left = wait_gone(leftovers(proc.pid, mark), GRACE)
            if left:
                res.failures.append(f"left {len(left)} processes behind")
                res.notes.append(tree_text(left[0], mark))
                kill_all(proc.pid, mark)
            del self.running[proc.pid]
            out.seek(0)
            res.output = out.read(OUTPUT_MAX).decode(errors="replace")
        parse(res.output, status, res, self.must_work, self.allowed)
        stray = glob.glob(os.path.join(glob.escape(tmp), "proctor-*"))
        if stray:
            res.failures.append("left in the scratch directory: " + " ".join(sorted(stray)[:5]))
        return res

    def stop(self):
        """Kill what still runs, when the run itself was interrupted; forget the scratch."""
        for pid, mark in list(self.running.items()):
            kill_all(pid, mark)
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.base, ignore_errors=True)

    def show(self, res):
        state = "FAIL" if res.failures else "ok"
        total = f"{res.passed} passed"
        if res.skipped:
            total += f", {res.skipped} skipped"
        print(f"{state:4} {res.label} ({total}, {res.seconds:.1f} s)", flush=True)
        for note in res.notes if self.args.verbose or res.failures else []:
            print("     " + note.replace("\n", "\n     ").rstrip())
        for what in res.failures:
            print(f"     not ok: {what}")
        if res.failures:
            shown = res.output.splitlines()
            near = [i for i, line in enumerate(shown) if line.startswith(("not ok", "Bail"))]
            keep = {k for i in near for k in range(i, min(i + 6, len(shown)))}
            keep |= set(range(max(0, len(shown) - 15), len(shown)))
            for i in sorted(keep)[:200]:
                print("     | " + shown[i])
            sys.stdout.flush()


def mounts():
    lines = pathlib.Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    return {line.split()[4] for line in lines}


def dead_cgroups():
    """Control groups named proctor-PID-N whose maker is gone."""
    found = set()
    for path in glob.glob("/sys/fs/cgroup/**/proctor-*", recursive=True):
        parts = os.path.basename(path).split("-")
        if len(parts) > 2 and parts[1].isdigit() and not os.path.exists(f"/proc/{parts[1]}"):
            found.add(path)
    return found


def main():
    parser = argparse.ArgumentParser(description="run TAP programs")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-t", "--timeout", type=int, default=600)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("list")
    args = parser.parse_args()
    text = sys.stdin.read() if args.list == "-" else pathlib.Path(args.list).read_text()
    tests = [line.split("\t") for line in text.splitlines() if line]
    # Orphans of a test come to us (PR_SET_CHILD_SUBREAPER, prctl(2)) and cannot hide behind init.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    mounts_before, groups_before = mounts(), dead_cgroups()
    runner = Runner(args)
    results = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    try:
        for job in [pool.submit(runner.run, *row) for row in tests]:
            results.append(job.result())
            runner.show(results[-1])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        runner.stop()
    guard = Result("left behind by the whole run")
    for what, now in (("mount", mounts() - mounts_before),
                      ("control group", dead_cgroups() - groups_before)):
        if now:
            guard.failures.append(f"{what}: " + " ".join(sorted(now)[:5]))
        else:
            guard.passed += 1
    results.append(guard)
    runner.show(guard)
    failed = [res for res in results if res.failures]
    if failed:
        print("failed: " + ", ".join(res.label for res in failed))
    print(f"{sum(r.passed for r in results)} passed, {sum(len(r.failures) for r in results)} failed, "
          f"{sum(r.skipped for r in results)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
