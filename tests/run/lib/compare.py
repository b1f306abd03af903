"""The rows of tests/tables/decisions.tsv, really run: what the released rule says of each command's text, and what
the kernel saw of the same command. TAP; with --print: the table's last column as it comes out now."""
import concurrent.futures
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
TABLE = os.path.join(TOP, "tests", "tables", "decisions.tsv")
PROCTOR = os.environ.get("PROCTOR", os.path.join(TOP, "build", "supervisor", "proctor"))
os.environ.setdefault("PROCTOR_DATADIR", os.path.join(TOP, "profiles", "data"))


def unescape(text):
    out, i = "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            out += {"n": "\n", "t": "\t"}.get(text[i + 1], text[i + 1])
            i += 2
        else:
            out += text[i]
            i += 1
    return out


def table():
    with open(TABLE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("#") and line.strip():
                cells = line.rstrip("\n").split("\t")
                yield number, cells


def region_of(text):
    path, lines = text.rsplit(":", 1)
    first, last = lines.split("-")
    return {"path": path, "start": int(first), "end": int(last)}


def fires(rows, regions, event, side):
    """Decisions that one side allows: "edit REGION" and "read REGION", or "-". A command that does both fires
    by what comes first in it, which the flags do not say."""
    found = []
    for kind in ("edit", "read"):
        if kind not in event.split("_or_"):
            continue
        for row in rows:
            if row[side]["argv" if side == "kernel" and kind == "read" else kind]:
                found.append(f"{kind} {regions[row['region']]}")
                break
    return found or ["-"]


def one(work, repo, number, cells):
    regions = cells[0].split(",")
    here = os.path.join(work, str(number))
    os.mkdir(here)
    task = {"schema": "proctor.task/1", "instance_id": "decisions", "problem_statement": "none", "source": repo}
    scenario = {"schema": "proctor.scenario/1", "id": "decisions", "mode": "vanilla",
                "regions": [region_of(r) for r in regions],
                "interventions": [{"order": 1, "when": {"event": cells[1]},
                                   "effects": [{"message": {"text": "Never sent."}}]}]}
    agent = {"schema": "proctor.agent/1", "name": "one", "command": ["sh", "~/agent.sh"],
             "files": {"~/agent.sh": "agent.sh"}}
    for name, content in (("task", task), ("scenario", scenario), ("agent", agent)):
        with open(os.path.join(here, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
    with open(os.path.join(here, "agent.sh"), "w", encoding="utf-8") as file:
        # one tool call, as a client makes it: a child of the agent that is given the text
        file.write("cd {workdir} || exit 1\nbash -c '" + unescape(cells[2]).replace("'", "'\\''") + "'\nexit 0\n")
    run = os.path.join(here, "run")
    made = subprocess.run([PROCTOR, "run", "-q", "--task", here + "/task.json", "--agent", here + "/agent.json",
                           "--scenario", here + "/scenario.json", "--out", run, "--set", "limits.wall=60s"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    if made.returncode:
        return number, cells, [], [], made.stderr.decode(errors="replace")
    told = subprocess.run([PROCTOR, "trace", "--touches", "--format", "json", run], capture_output=True,
                          timeout=60, check=False)
    if told.returncode:
        return number, cells, [], [], told.stderr.decode(errors="replace")
    rows = json.loads(told.stdout)["rows"]
    return (number, cells, fires(rows, regions, cells[1], "released"), fires(rows, regions, cells[1], "kernel"),
            ", ".join(sorted({row["reason"] for row in rows})))


def main():
    work = tempfile.mkdtemp(prefix="compare-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        repo = os.path.join(work, "repo")
        shutil.copytree(os.path.join(TOP, "tests", "tables", "decisions-repo"), repo)
        quiet = {"check": True, "cwd": repo, "stdout": subprocess.DEVNULL}
        author = ["-c", "user.name=proctor", "-c", "user.email=proctor@localhost"]
        subprocess.run(["git", "init", "-q", "-b", "main"], **quiet)
        subprocess.run(["git", "add", "-A"], **quiet)
        subprocess.run(["git", *author, "commit", "-q", "-m", "base"], **quiet)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda row: one(work, repo, *row), table()))
        report(found)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def report(found):
    if "--print" in sys.argv:
        out = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
        for number, cells, released, kernel, why in found:
            out.writerow([number, cells[1], cells[2], cells[4], (released or ['?'])[0], (kernel or ['?'])[0], why])
        return
    failed = differ = 0
    for i, (number, cells, released, kernel, why) in enumerate(found, 1):
        # what a command prints is no part of a run's record, so the text alone decides here
        text_only = cells[3] == "-"
        good = cells[6] in kernel and (not text_only or cells[4] in released)
        differ += cells[6] != cells[4]
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i} - line {number}: {cells[2][:60]}")
        if not good:
            print(f"# released {released}, wanted {cells[4]}; kernel {kernel}, wanted {cells[6]}; {why}")
    print(f"# {len(found)} rows; the two rules differ in {differ}")
    print(f"1..{len(found)}")
    sys.exit(failed != 0)


main()
