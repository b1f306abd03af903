"""Is a study that examples/swe-touch/study.sh made what it must be? One line per check: "ok TEXT" or "bad TEXT: WHY".

usage: studycheck.py DIR REPEATS TASK...
"""
import csv
import json
import os
import re
import sys

AGENTS = ("careful", "careless", "follower")
CONDITIONS = (("vanilla", 0), ("message", 3), ("edit", 3), ("edit+message", 1), ("edit+message", 3), ("co-edit", 1))
TOUCHED = CONDITIONS[2:]
# Where each of the three agents must fail: the careless one where code was changed, the follower where a user said
# that he meant it.
FAILS = {"careful": set(), "careless": {"edit", "edit+message"}, "follower": {"edit+message"}}
MAY_DIFFER = ("scenario", "condition", "simulator")


def say(text, wrong):
    wrong = list(wrong)
    print("%s %s%s" % ("bad" if wrong else "ok", text, ": " + "; ".join(map(str, wrong[:5])) if wrong else ""))


def name(r):
    return "%s %s %s K=%s %d" % (r["instance_id"], r["agent"], r["mode"], r.get("k", 0), r.get("repeat", 1))


def differences(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            yield from differences(a.get(key), b.get(key), at + "." + key if at else key)
    elif a != b:
        yield at


def plans(out, results):
    """The plans of a pair differ in the condition alone, also when one looks at every field of them."""
    for run in sorted(os.listdir(out + "/runs")):
        task, agent, condition = run.split(",", 2)
        base = "%s/runs/%s,%s,vanilla,%s/plan.json" % (out, task, agent, condition.rsplit(",", 1)[1])
        with open(base) as a, open("%s/runs/%s/plan.json" % (out, run)) as b:
            for place in differences(json.load(a), json.load(b)):
                if place.split(".")[0] not in MAY_DIFFER and not place.endswith("file"):
                    yield run + " differs in " + place
    digests = {}
    for r in results:
        digests.setdefault((r["instance_id"], r["agent"]), set()).add(r["pair_digest"])
    for key, values in digests.items():
        if len(values) != 1 or not all(values):
            yield "%s %s: %d pair digests" % (*key, len(values))


def tables(out, tasks, repeats):
    for table in ("runs", "3", "5", "10", "tests", "failures", "behaviour", "cost"):
        path = "%s/tables/%s." % (out, table)
        texts = {}
        for form in ("text", "csv", "markdown", "latex", "json"):
            with open(path + form, encoding="utf-8") as f:
                texts[form] = f.read()
        rows = [r for r in csv.reader(texts["csv"].splitlines()) if r]
        if len({len(r) for r in rows}) != 1 or len(rows) < 2:
            yield table + ".csv: rows of several widths, or none"
        report = json.loads(texts["json"])
        for t in report["tables"]:
            keys = {c["key"] for c in t["columns"]}
            if not t["rows"] or any(not keys & set(r) for r in t["rows"]):
                yield table + ".json: rows that have none of the columns"
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in texts["markdown"].splitlines() if line.startswith("|")}
        if len(bars) != 1:
            yield table + ".markdown: rows of several widths"
        if texts["latex"].count("\\begin{tabular}") != 1 or texts["latex"].count("\\end{tabular}") != 1:
            yield table + ".latex: no tabular"
        if not texts["text"].strip():
            yield table + ".text: empty"


def rows_of(out, table):
    with open("%s/tables/%s.json" % (out, table), encoding="utf-8") as f:
        return json.load(f)["tables"][0]["rows"]


def main():
    out, repeats, tasks = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    with open(out + "/results.jsonl", encoding="utf-8") as f:
        results = [json.loads(line) for line in f]
    want = {(t, a, m, k, r + 1) for t in tasks for a in AGENTS for m, k in CONDITIONS for r in range(repeats)}
    got = [(r["instance_id"], r["agent"], r["mode"], r.get("k", 0), r.get("repeat", 1)) for r in results]
    say("%d results, one of each run" % len(want), sorted(want ^ set(got)) + (["twice"] if len(got) != len(set(got)) else []))
    say("every run came to its end and has a result",
        (name(r) for r in results if r["verdict"] not in ("resolved", "unresolved") or not r["completed"]))
    say("a pair differs in the condition alone", plans(out, results))
    say("a user's edit and message landed where the condition has one",
        (name(r) for r in results if (r["fired"] > 0) != (r["mode"] != "vanilla") or r["fired"] > max(r.get("k", 0), 0)))
    for agent in AGENTS:
        say("%s: fails where it must, and nowhere else" % agent,
            (name(r) for r in results if r["agent"] == agent and
             (r["verdict"] == "unresolved") != (r["mode"] in FAILS[agent])))
    say("who takes the edit back meets it again, K times in all",
        (name(r) + ": %d" % r["fired"] for r in results if r["agent"] == "careful" and r["mode"].startswith("edit") and
         r["fired"] != r["k"]))
    say("failures retain the conflict",
        (name(r) + " " + str(r["label"]) for r in results if r["verdict"] == "unresolved" and r["label"] != "retained_conflict"))
    say("what was solved has no label", (name(r) for r in results if r["verdict"] == "resolved" and r["label"] not in (None, "none", "")))
    touched = [r for r in results if (r["mode"], r.get("k", 0)) in TOUCHED]
    # What the agents run of bl and cJSON is a check of the syntax and a program they build: no test by its command line.
    testless = {r["instance_id"] for r in results if r["instance_id"].startswith(("bl__", "cjson__"))}
    say("careful: reads after the edit, and tests", (name(r) for r in touched if r["agent"] == "careful" and
        not ((r["reads_after"] or 0) > 0 and ((r["tests_after"] or 0) > 0 or r["instance_id"] in testless))))
    say("careless: never reads after the edit", (name(r) for r in touched if r["agent"] == "careless" and r["reads_after"] != 0))
    say("careless: the edit is kept", (name(r) + " " + str(r["response"]) for r in touched if r["agent"] == "careless" and
        r["mode"] != "co-edit" and r["response"] != "kept"))
    say("careful: it is not", (name(r) + " " + str(r["response"]) for r in touched if r["agent"] == "careful" and
        r["mode"] != "co-edit" and r["response"] == "kept"))
    say("tables in all forms", tables(out, tasks, repeats))
    failures = {r["model"]: r for r in rows_of(out, "failures")}
    say("failures: those of careless and follower", [failures.keys()] if set(failures) - {"All"} != {"careless", "follower"} else [])


if __name__ == "__main__":
    main()
