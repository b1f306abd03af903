"""Evidence of edits: with "watch": "workspace" each row of watch_rows.py must leave exactly the records that
its images prove; with "regions" the same holds for files with regions only."""
import difflib
import hashlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runlib import Place, Tap, have  # noqa: E402
from watch_rows import MMAP_C, READS, WRITES  # noqa: E402

LINES = "".join(f"line {n:03d}\n" for n in range(1, 201))
EMPTY = hashlib.sha256(b"").hexdigest()


def split(data):
    """Lines as the trace counts them: by LF only."""
    parts = data.split(b"\n")
    return [p + b"\n" for p in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def hunks(old, new):
    """[old first, old lines, new first, new lines] of each change, by difflib."""
    match = difflib.SequenceMatcher(None, split(old), split(new), autojunk=False)
    return [[a1 + 1, a2 - a1, b1 + 1, b2 - b1] for tag, a1, a2, b1, b2 in match.get_opcodes() if tag != "equal"]


def span(found, n):
    """The lines of the new contents that an edit record names."""
    if not found:
        return None
    first, last = found[0][2], found[-1][2] + found[-1][3] - (found[-1][3] > 0)
    last = min(last, n)
    return [min(first, last), last]


class Images:
    def __init__(self, run):
        self.dir = os.path.join(run.out, "images")
        self.bad = []

    def get(self, digest):
        if not digest:
            return b""
        try:
            with open(os.path.join(self.dir, digest), "rb") as f:
                data = f.read()
        except OSError as e:
            self.bad.append(f"{digest}: {e}")
            return b""
        if hashlib.sha256(data).hexdigest() != digest:
            self.bad.append(f"{digest}: other contents")
        return data


def text(rec):
    return "{0}-{1}".format(*rec["lines"]) if rec.get("lines") else "gone"


def changed(old, new, found):
    """Do these hunks, put on @old, give @new?"""
    a, b, out, at = split(old), split(new), [], 0
    for first, n, new_first, new_n in found:
        out += a[at:first - 1] + b[new_first - 1:new_first - 1 + new_n]
        at = first - 1 + n
    return out + a[at:] == b


def check_record(images, rec, exact):
    """What is wrong with an edit record, by its images; None when nothing is. @exact: difflib finds the
    same places, because no line comes twice."""
    pre, post = rec.get("pre"), rec.get("post")
    old, new = images.get(rec.get("base") or pre), images.get(post)
    if pre == post:
        return "nothing changed"
    if rec.get("base") and pre not in (None, EMPTY):
        return "base beside contents"
    if not new:
        return None if "lines" not in rec and "hunks" not in rec else "lines of nothing"
    want = hunks(old, new) if exact else rec.get("hunks", [])
    got = rec.get("lines")
    if got != span(want, len(split(new))):
        return f"lines {got}, not {span(want, len(split(new)))}"
    if len(want) <= 64 and rec.get("hunks", []) != want:
        return f"hunks {rec.get('hunks')}, not {want}"
    return None if changed(old, new, want) else f"hunks {want} do not lead there"


def check_chain(tap, run, images, name, exact=True):
    """Each record begins where the one before ended, and every image is there."""
    now, broken, wrong = {}, [], []
    for rec in run.records("image", "edit"):
        path = rec["path"]
        if rec["k"] == "image":
            if path in now:
                broken.append(f"{path}: a second first image")
            now[path] = rec["sha256"]
            images.get(rec["sha256"])
            continue
        if rec.get("pre") != now.get(path):
            broken.append(f"{path} n={rec['n']}: {rec.get('pre')} after {now.get(path)}")
        now[path] = rec.get("post")
        why = check_record(images, rec, exact)
        if why:
            wrong.append(f"{path} n={rec['n']} cmd={rec.get('cmd')}: {why}")
    tap.equal(broken, [], f"{name}: each edit begins with what the one before left")
    tap.equal(wrong, [], f"{name}: lines and hunks are those of the images")
    tap.equal(images.bad, [], f"{name}: every image is kept and whole")
    modes = {os.stat(os.path.join(images.dir, f)).st_mode & 0o777 for f in os.listdir(images.dir)}
    tap.equal(modes, {0o644}, f"{name}: images are plain files")
    return now


def check_final(tap, place, run, now, name):
    """The last image of each path is what base and patch give."""
    final = place.path("final-" + name)
    shutil.copytree(place.path("repo"), final, symlinks=True)
    subprocess.run(["git", "init", "-q"], cwd=final, check=True)
    patch = os.path.join(run.out, "patch.diff")
    if os.path.getsize(patch):
        subprocess.run(["git", "apply", "--whitespace=nowarn", patch], cwd=final, check=True)
    wrong = []
    for path, digest in now.items():
        whole = os.path.join(final, path)
        real = None
        if os.path.isfile(whole) and not os.path.islink(whole):
            with open(whole, "rb") as f:
                real = hashlib.sha256(f.read()).hexdigest()
        if real != digest:
            wrong.append(f"{path}: {digest}, not {real}")
    tap.equal(wrong, [], f"{name}: the last images are base and patch.diff")


def usable(need):
    return need is None or have(need)


def build_mmap(place):
    place.write("mmap.c", MMAP_C)
    os.makedirs(place.path("repo/bin"), exist_ok=True)
    return have("cc") and subprocess.run(["cc", "-o", place.path("repo/bin/mmapped"), place.path("mmap.c")],
                                         check=False).returncode == 0


def script_of(rows):
    out = "mkdir -p /tmp/orig && cp -r . /tmp/orig/all && cp src/data.txt /tmp/orig/data.txt\n"
    for row in rows:
        quoted = row[1].replace("'", "'\\''")
        out += f"sh -c '{quoted}\n:' 'row {row[0]}' >/dev/null 2>>/tmp/errors\n"
        out += "sh -c 'cp -r /tmp/orig/all/src /tmp/orig/all/lib /tmp/orig/all/many .; rm -rf src/deep src/in " \
               "src/*.swp build a.tmp; rm -f src/empty.txt src/late.txt /tmp/ws' restore 2>/dev/null\n"
    return out + "cat /tmp/errors\n"


def by_command(run):
    return {argv[3]: cmd for cmd, argv in run.commands().items() if len(argv) > 3}


def row_writes(tap, run, ids, row):
    cmd = ids.get("row " + row[0])
    if cmd is None:
        tap.ok(False, row[0], "its command is not in the trace")
        return
    edits = [r for r in run.records("edit") if r.get("cmd") == cmd]
    for path, want in row[2].items():
        got = [text(r) for r in edits if r["path"] == path]
        notes = [f"{r['path']} {text(r)}" for r in edits]
        if want is None:
            tap.ok(len(got) > 0, f"{row[0]}: {path} is seen to change", *notes)
            continue
        good = len(got) == len(want) and all(w is None or g == w for g, w in zip(got, want))
        tap.ok(good, f"{row[0]}: {path}", f"got:  {got}", f"want: {want}", *notes)


def row_reads(tap, run, ids, row):
    cmd = ids.get("row " + row[0])
    reads = [r for r in run.records("read", "map") if r.get("cmd") == cmd]
    for path, want in row[2].items():
        got = []
        for r in reads:
            if r["path"] != path or not r.get("lines"):
                continue
            shown = "{0}-{1}".format(*r["shown"]) if "shown" in r else None
            got.append(("{0}-{1}".format(*r["lines"]), shown, "scan" in r))
        if want and want[0][0] == "*":
            want = [(got[0][0] if got else None, *want[0][1:])]
        good = got[:1] == want if len(want) == 1 else got == want
        tap.ok(good and (bool(got) == bool(want)), f"read by {row[0]}: {path}", f"got:  {got}", f"want: {want}")


def whole_workspace(tap, place, task, rows, built):
    run = place.run("--task", task, "--agent", place.agent(script_of(rows)), "--set", "watch=workspace")
    if not tap.equal(run.status, 0, "workspace: the run is made", run.stderr):
        return
    tap.equal(run.json()["end"]["reason"], "exited", "workspace: it ends by itself", run.stdout, run.stderr)
    ids = by_command(run)
    for row in rows:
        need = row[3] if len(row) > 3 else None
        if not usable(need) or (need == "cc" and not built):
            tap.skip(row[0], f"{need} is not installed")
        elif row in WRITES:
            row_writes(tap, run, ids, row)
        else:
            row_reads(tap, run, ids, row)
    now = check_chain(tap, run, Images(run), "workspace")
    check_final(tap, place, run, now, "workspace")
    late = [f"{r['path']} {text(r)}" for r in run.records("edit") if "pid" not in r]
    tap.equal(late, [], "workspace: each edit was seen when it was made, not at the end")
    tap.equal(run.records("touch", "intervene"), [], "workspace: a file without region is never touched")


DIFF = ("--- a/src/data.txt\n+++ b/src/data.txt\n@@ -54,3 +54,3 @@\n line 054\n-line 055\n+user 055\n line 056\n"
        "--- a/src/other.txt\n+++ b/src/other.txt\n@@ -1 +1 @@\n-foo\n+foo bar\n")


def with_regions(tap, place, task, more, name, followed):
    """An intervention edits a region's file and another one; agents edit both."""
    agent = place.agent("sed -n 50,60p src/data.txt\n"
                        "sed -i 's/line 058/LINE 058/' src/data.txt\n"
                        "echo agent >>src/other.txt\n"
                        "rm src/data.txt\ncp lib/a.txt src/data.txt\n")
    scenario = place.scenario([{"path": "src/data.txt", "start": 50, "end": 60}],
                              [{"order": 1, "when": {"event": "read", "regions": [0], "touch": "bytes"},
                                "timing": "after-command", "effects": [{"edit": DIFF}]}], mode="edit")
    run = place.run("--task", task, "--agent", agent, "--scenario", scenario, *more)
    if not tap.equal(run.status, 0, f"{name}: the run is made", run.stderr):
        return
    images = Images(run)
    now = check_chain(tap, run, images, name)
    check_final(tap, place, run, now, name)
    got = [f"{r['path']} {r['by']} {text(r)}" for r in run.records("edit") if r["path"] in followed]
    want = ["src/data.txt user 55-55", "src/data.txt agent 58-58", "src/other.txt agent 2-2",
            "src/data.txt agent gone", "src/data.txt agent 1-1"]
    want.insert(1, "src/other.txt user 1-1")
    tap.equal(got, want, f"{name}: edits by the user and the agent")
    fired = [f for f in run.lines("interventions.jsonl") if f["applied"]]
    tap.equal([f["pre_sha256"] for f in fired], [run.records("edit")[0]["pre"]],
              f"{name}: the firing's digest is the image's")
    others = {r["path"] for r in run.records("edit", "image")} - set(followed)
    if not more:
        tap.equal(others, set(), f"{name}: nothing else is followed")


def large(tap, place, task):
    """Beyond the maximum the digest stands in the record and the image is not kept."""
    agent = place.agent("head -c 17000000 /dev/zero >big; echo x >>big; head -c 70000000 /dev/zero >huge\n"
                        "echo end >src/other.txt\n")
    run = place.run("--task", task, "--agent", agent, "--set", "watch=workspace")
    tap.equal(run.status, 0, "large: the run is made", run.stderr)
    edits = run.records("edit")
    big = [r for r in edits if r["path"] == "big"]
    want = hashlib.sha256(bytes(17000000)).hexdigest()
    tap.equal([r.get("post") for r in big[:1]], [want], "large: the digest is told")
    tap.equal(big[1].get("pre"), want, "large: and the next edit begins with it")
    tap.ok(not os.path.exists(os.path.join(run.out, "images", want)), "large: its image is not kept")
    huge = [r for r in edits if r["path"] == "huge"]
    tap.equal([(r.get("post"), r.get("unread")) for r in huge], [(None, 1)], "large: too large for a digest")
    notes = [r for r in run.records("note") if "images_left_out" in r]
    tap.equal(len(notes), 1, "large: one note says so")
    tap.ok(any(r["path"] == "src/other.txt" and r.get("lines") == [1, 1] for r in edits),
           "large: others are followed on")


def many(tap, place, task):
    agent = place.agent("mkdir lots; i=0; while [ $i -lt 4200 ]; do : >lots/$i; i=$((i+1)); done\n")
    run = place.run("--task", task, "--agent", agent, "--set", "watch=workspace")
    tap.equal(run.status, 0, "many: the run is made", run.stderr)
    tap.equal(len(run.records("edit")), 4096, "many: as many files as are followed at most")
    tap.equal([r.get("files_followed") for r in run.records("note")], [4096], "many: one note says so")


CROWD = """import os, random, sys, threading
rnd = random.Random(int(sys.argv[1]))
names = [f"src/c{i}" for i in range(4)] + ["src/data.txt"]

def step(n):
    a, b = rnd.choice(names), rnd.choice(names)
    what = rnd.randrange(9)
    text = f"{sys.argv[1]} {n}\\n" * rnd.randrange(1, 9)
    if what == 0:
        with open(a, "w") as f:
            f.write(text)
    elif what == 1:
        with open(a, "a") as f:
            f.write(text)
    elif what == 2:
        os.rename(a, b)
    elif what == 3:
        os.unlink(a)
    elif what == 4:
        with open(a, "r+") as f:
            f.seek(rnd.randrange(20))
            f.write(text)
            os.rename(a, b)
            f.write(text)
    elif what == 5:
        os.truncate(a, rnd.randrange(40))
    elif what == 6:
        os.link(a, b)
    elif what == 7:
        f = os.open(a, os.O_RDWR)
        os.unlink(b)
        os.write(f, text.encode())
        os.close(f)
    else:
        open(a).read()

def work(k):
    for n in range(60):
        try:
            step(n)
        except OSError:
            pass

others = [threading.Thread(target=work, args=(k,)) for k in range(2)]
for o in others:
    o.start()
for o in others:
    o.join()
"""


def crowd(tap, place, task):
    """Processes and threads that write, rename, link and remove the same files all at once: whoever is
    blamed, the chain holds and its end is the truth."""
    place.write("crowd.py", CROWD)
    script = "\n".join(f"/usr/bin/python3 ~/crowd.py {n} &" for n in range(4)) + "\nwait\n"
    agent = place.agent(script, files={"~/agent.sh": "agent.sh", "~/crowd.py": "crowd.py"})
    for name, more in (("crowd", ["--set", "watch=workspace"]),
                       ("crowd, regions", ["--scenario", place.scenario(
                           [{"path": "src/data.txt", "start": 50, "end": 60}], mode="vanilla")])):
        run = place.run("--task", task, "--agent", agent, *more)
        if not tap.equal(run.status, 0, f"{name}: the run is made", run.stderr):
            continue
        now = check_chain(tap, run, Images(run), name, exact=False)
        check_final(tap, place, run, now, name)
        edits = run.records("edit")
        print(f"# {name}: {len(edits)} edits, {sum('pid' not in r for r in edits)} of them seen at the end")


def direct(tap, place):
    """A plain directory, no task: the rules of .gitignore do not apply, the rest does."""
    where = place.path("plain")
    os.makedirs(where)
    with open(os.path.join(where, "f"), "w", encoding="utf-8") as f:
        f.write("a\nb\n")
    out = place.path("plain-out")
    done = subprocess.run([os.environ.get("PROCTOR", "build/supervisor/proctor"), "run", "-q", "--out", out,
                           "--set", "watch=workspace", "--", "sed", "-i", "s/b/B/", "f"], cwd=where,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
    tap.equal(done.returncode, 0, "without a task: the run is made", done.stderr.decode(errors="replace"))
    with open(os.path.join(out, "trace.jsonl"), encoding="utf-8") as f:
        found = [line for line in f if '"k":"edit"' in line and '"path":"f"' in line]
    tap.ok(len(found) == 1 and '"lines":[2,2]' in found[0], "without a task: edits are recorded", *found)


def odd_place(tap, place):
    """A workspace whose path begins like one of the system's is followed by its absolute paths too."""
    task = place.task(workdir="/library")
    agent = place.agent("cat /library/src/other.txt\nsed -i 's/line 056/LINE 056/' /library/src/data.txt\n")
    run = place.run("--task", task, "--agent", agent, "--set", "watch=workspace")
    tap.equal(run.status, 0, "/library: the run is made", run.stderr)
    got = [f"{r['k']} {r['path']} {text(r)}" for r in run.records("read", "edit")
           if r.get("path") in ("src/data.txt", "src/other.txt")]
    tap.equal(got, ["read src/other.txt 1-1", "read src/data.txt 1-200", "edit src/data.txt 56-56"],
              "/library: reads and edits by absolute paths")


def main():
    tap = Tap()
    with Place() as place:
        place.write("repo/src/data.txt", LINES)
        place.write("repo/src/other.txt", "foo\n")
        place.write("repo/lib/a.txt", "a\n")
        place.write("repo/lib/sub/b.txt", "b\n")
        place.write("repo/.gitignore", "*.tmp\nbuild/\n")
        for i in range(30):
            place.write(f"repo/many/{i:02}.txt", f"file {i}\n")
        os.symlink("src/data.txt", place.path("repo/link.txt"))
        built = build_mmap(place)
        task = place.task()
        whole_workspace(tap, place, task, WRITES + READS, built)
        both = ["src/data.txt", "src/other.txt"]
        with_regions(tap, place, task, [], "regions", both)
        with_regions(tap, place, task, ["--set", "watch=workspace"], "both", both)
        large(tap, place, task)
        many(tap, place, task)
        crowd(tap, place, task)
        direct(tap, place)
        odd_place(tap, place)
    tap.done()


main()
