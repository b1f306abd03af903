"""For the tests of faults: a small task with an agent, a scenario, a model's script and hidden tests; a way to run
proctor that sees everything it started end; and what must hold after a run, whatever went wrong in it."""
import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROCTOR = os.environ.get("PROCTOR") or os.path.join(TOP, "build/supervisor/proctor")
INJECT = os.path.join(os.path.dirname(os.path.dirname(PROCTOR)), "tests/progs/libinject.so")
KINDS = ["alloc", "mount", "clone", "write", "disk", "open", "fsync", "ptrace", "seccomp", "make", "pipe"]
PAGE = 8 * (len(KINDS) + 5) + 56
STATUSES = {0, 1, 2, 3, 4, 5, 6, 7, 8}  # proctor(1), EXIT STATUS; 70 is a bug
WATCHDOG = 40.0  # seconds after which a run hangs
GONE = 8.0  # seconds that what is left may take to go
PR_SET_CHILD_SUBREAPER = 36
LINES = "".join(f"line {i}\n" for i in range(1, 21))


class Late(Exception):
    pass


@contextlib.contextmanager
def within(seconds):
    def late(*_):
        raise Late

    old = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def adopt():
    """Orphans of what we start become our children: what is left of a run cannot hide."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("prctl")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def status_field(pid, key):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith(key + ":"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def name_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            args = f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        args = ""
    return f"{status_field(pid, 'Name')} {status_field(pid, 'State')[:1]} [{args.strip()[:80]}]"


class Done:
    """What came of one call of proctor."""

    def __init__(self, pid):
        self.pid = pid
        self.status = None  # exit status, -signal
        self.hung = False
        self.left = []  # processes that were still there
        self.out = self.err = ""
        self.page = None


def tree_digest(path):
    h = hashlib.sha256()
    for root, dirs, files in sorted(os.walk(path)):
        dirs.sort()
        for name in sorted(files):
            full = os.path.join(root, name)
            h.update(os.path.relpath(full, path).encode() + b"\0" + oct(os.lstat(full).st_mode).encode())
            with open(full, "rb") as f:
                h.update(f.read())
    return h.hexdigest()


def mounts_below(path):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        return [line.split()[4] for line in f if line.split()[4].startswith(path + "/")]


def cgroups_of(pid):
    found = []
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        if root.count("/") > 9:
            dirs.clear()
        found += [os.path.join(root, d) for d in dirs if d.startswith(f"proctor-{pid}-")]
    return found


class World:
    """A directory with a task and all that belongs to it; removed at the end."""

    def __init__(self, parent=None):
        adopt()
        self.dir = tempfile.mkdtemp(prefix="faults-", dir=parent or os.environ.get("TMPDIR") or "/var/tmp")
        self.scratch = self.path("scratch")
        os.mkdir(self.scratch)
        self.env = dict(os.environ, PROCTOR_SCRATCH=self.scratch,
                        PROCTOR_DATADIR=os.environ.get("PROCTOR_DATADIR") or os.path.join(TOP, "profiles/data"))
        self.n = 0
        self.make_task()
        self.source = tree_digest(self.path("repo"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["chmod", "-R", "u+rwX", self.dir], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def json(self, name, value):
        return self.write(name, json.dumps(value, indent=1))

    def make_task(self, work=None):
        """The agent reads a file, is told of a user's edit, appends "touched" to another and ends."""
        self.write("repo/file.txt", LINES)
        self.write("repo/other.txt", "old\n")
        self.write("repo/check.sh", "grep -q touched other.txt && echo 'ok 1 - touched' || echo 'not ok 1 - touched'\n"
                                    "echo 'ok 2 - stays'\necho 1..2\n")
        self.json("task.json", {
            "schema": "proctor.task/1", "instance_id": "faults-1", "source": "repo", "workdir": "/workspace",
            "problem_statement": "touch other.txt",
            "test": {"command": "sh check.sh", "reader": "tap", "hidden": ["check.sh"]},
            "FAIL_TO_PASS": ["touched"], "PASS_TO_PASS": ["stays"]})
        self.write("edit.diff", "--- a/file.txt\n+++ b/file.txt\n@@ -4,3 +4,3 @@\n line 4\n-line 5\n+line five\n line 6\n")
        self.json("scenario.json", {
            "schema": "proctor.scenario/1", "id": "faults", "instance_id": "faults-1", "mode": "edit+message",
            "max_rounds": 1, "regions": [{"path": "file.txt", "start": 4, "end": 6}],
            "interventions": [{"order": 1, "when": {"event": "read", "regions": [0]}, "timing": "after-command",
                               "effects": [{"edit": "edit.diff"}, {"message": {"text": "I changed line 5."}}]}]})
        self.json("script.json", {
            "schema": "proctor.script/1",
            "turns": [{"text": "I look.", "tools": [{"shell": "cat file.txt"}]},
                      {"text": "I write.", "tools": [{"shell": work or "echo touched >>other.txt"}]},
                      {"text": "Done."}]})

    def out(self):
        self.n += 1
        return self.path(f"out{self.n}")

    def run_args(self, out, *more):
        return ["run", "-q", "--no-tty", "--task", self.path("task.json"), "--scenario", self.path("scenario.json"),
                "--agent", "actor", "--model", "script:" + self.path("script.json"), "--out", out, *more]

    def grade_args(self, out, *more):
        patch = self.write("good.diff", "diff --git a/other.txt b/other.txt\n--- a/other.txt\n+++ b/other.txt\n"
                                        "@@ -1 +1,2 @@\n old\n+touched\n")
        return ["grade", "-q", "--task", self.path("task.json"), "--patch", patch, "--infra-repeats", "0", "--out", out,
                *more]

    def call(self, args, inject=None, clock=None, seconds=WATCHDOG, during=None, env=None):
        """proctor ARGS, with everything it starts seen to its end. during(pid) is called once it runs."""
        env = dict(self.env, **(env or {}))
        page = self.path("page")
        if inject is not None or clock is not None:
            with open(page, "wb") as f:
                f.truncate(PAGE)
            env.update(LD_PRELOAD=INJECT, INJECT_FILE=page)
            if inject:
                env["INJECT"] = inject
            if clock is not None:
                env["INJECT_CLOCK"] = str(clock)
        with open(self.path("stdout.txt"), "w+b") as out, open(self.path("stderr.txt"), "w+b") as err:
            child = subprocess.Popen([PROCTOR, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env,
                                     cwd=self.dir)
            done = Done(child.pid)
            if during:
                during(child.pid)
            self.see_end(child, done, seconds)
            out.seek(0)
            err.seek(0)
            done.out, done.err = (f.read().decode(errors="replace") for f in (out, err))
        if inject is not None or clock is not None:
            done.page = read_page(page)
        return done

    def see_end(self, child, done, seconds):
        end = time.monotonic() + seconds
        while True:
            try:
                with within(end - time.monotonic()):
                    pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                break
            except Late:
                if done.status is None:
                    done.hung = True
                done.left = [f"{p} {name_of(p)}" for p in descendants(os.getpid())]
                for p in descendants(os.getpid()):
                    with contextlib.suppress(OSError):
                        os.kill(p, signal.SIGKILL)
                end = time.monotonic() + 5
                if len(done.left) > 1000:
                    break
                continue
            if pid == child.pid:
                done.status = child.returncode = os.waitstatus_to_exitcode(status)
                end = time.monotonic() + GONE

    def problems(self, done, out, killed=False):
        """What must hold after any call; a list of what does not."""
        bad = []
        if done.hung:
            bad.append("it hung")
        if done.left:
            bad.append("processes are left: " + "; ".join(done.left[:4]))
        bad += self.left_problems(done.pid)
        if tree_digest(self.path("repo")) != self.source:
            bad.append("the user's source has changed")
        if not killed and not done.hung:
            bad += message_problems(done)
        bad += record_problems(out)
        return bad

    def left_problems(self, pid):
        bad = []
        end = time.monotonic() + 1
        while os.listdir(self.scratch) and time.monotonic() < end:
            time.sleep(0.02)
        if os.listdir(self.scratch):
            bad.append(f"scratch is left: {os.listdir(self.scratch)}")
            subprocess.run(["chmod", "-R", "u+rwX", self.scratch], check=False)
            shutil.rmtree(self.scratch, ignore_errors=True)
            os.makedirs(self.scratch, exist_ok=True)
        if mounts_below(self.dir):
            bad.append(f"mounts are left: {mounts_below(self.dir)}")
        if cgroups_of(pid):
            bad.append(f"control groups are left: {cgroups_of(pid)}")
        return bad


def read_page(path):
    with open(path, "rb") as f:
        v = struct.unpack(f"{len(KINDS) + 5}Q56s", f.read(PAGE))
    page = dict(zip(KINDS, v))
    page.update(zip(["hits", "pid", "at", "base", "clock", "object"], v[len(KINDS):]))
    return page


def where(page):
    """Function and line of the call that failed, as far as debug information goes."""
    if not page or not page["hits"]:
        return "nowhere"
    done = subprocess.run(["addr2line", "-fpe", PROCTOR, hex(max(page["at"] - page["base"] - 1, 0))],
                          capture_output=True, text=True, check=False)
    place = done.stdout.strip().split(" at ")
    line = place[-1].split("/")[-1] if len(place) > 1 else page["object"].split(b"\0")[0].decode(errors="replace")
    return f"pid {page['pid']} {place[0]} {line}"


def message_problems(done):
    bad = []
    said = [line for line in done.err.splitlines() if line.startswith("proctor: ")]
    if len(said) > 1 or done.status == 0:  # the process that ran out of memory is not always the one that tells
        said = [line for line in said if "out of memory" not in line]
    if done.status not in STATUSES:
        bad.append(f"exit status {done.status}, which proctor(1) does not name")
    if done.status == 0 and said:
        bad.append(f"status 0, and a message: {said[0]}")
    if done.status and done.status > 1 and len(said) != 1:
        bad.append(f"{len(said)} messages with status {done.status}")
    if re.search(r"Sanitizer|assert|\(null\)", done.err):
        bad.append("the message is no message")
    return bad


def lines_of(path):
    """Records of a .jsonl file; only the last line may be cut."""
    with open(path, "rb") as f:
        whole, _, _ = f.read().rpartition(b"\n")
    return [json.loads(line) for line in whole.split(b"\n") if line]


def record_problems(out):
    """The run directory is readable and says how the run ended."""
    bad = []
    if not os.path.exists(out):
        return bad
    for name in os.listdir(out):
        try:
            if name.endswith(".jsonl"):
                lines_of(os.path.join(out, name))
            elif name.endswith(".json"):
                with open(os.path.join(out, name), "rb") as f:
                    value = json.load(f)
                if name == "run.json" and value.get("state") != "done":
                    bad.append("run.json is not finished")
                if name == "run.json" and not value.get("end", {}).get("reason"):
                    bad.append("run.json does not say how the run ended")
            elif name.startswith(".") or name.endswith((".tmp", ".new")):
                bad.append(f"{name} is left in the run directory")
        except ValueError as e:
            bad.append(f"{name} cannot be read: {e}")
    return bad


def end_of(out):
    try:
        with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
            return json.load(file).get("end", {})
    except (OSError, ValueError):
        return {}


def worked(out):
    """Has the agent changed the workspace? Then its third request, which brings what came of that, was answered."""
    try:
        return len(lines_of(os.path.join(out, "model.jsonl"))) >= 3
    except (OSError, ValueError):
        return False


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""
