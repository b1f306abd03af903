"""Judge attempts by tests/tables/escape.tsv. usage: escape.py TABLE OUTCOMES TRACE BEFORE AFTER
Prints "0 or 1 TAB name of a skip or - TAB text" for each assertion."""
import fnmatch
import json
import sys

FILTERED = "EPERM"


def pairs(path):
    lines = (line.rstrip("\n").split("\t") for line in open(path, errors="replace") if not line.startswith("#"))
    return {parts[0]: parts[-1] for parts in lines if len(parts) > 1}


def as_wanted(got, want):
    if want == "fails":
        return got not in ("0", "wrong") and not got.startswith("SIG")
    if want == "allowed":
        return got != FILTERED and got != "SIGSYS"
    return got == want


def name_of(rec):
    return rec.get("path") or rec.get("addr") or str(rec.get("to", ""))


def say(good, text, skip="-"):
    print(f"{int(not good)}\t{skip}\t{text}")


def main():
    table, outcomes, trace, before, after = sys.argv[1:]
    got, was, now = pairs(outcomes), pairs(before), pairs(after)
    recs = {}
    for line in open(trace):
        rec = json.loads(line)
        recs.setdefault(rec.get("k"), set()).add(name_of(rec))
    rows = [line.rstrip("\n").split("\t") for line in open(table) if not line.startswith("#")]
    for number, family, _, want, skips, outside, record, what in rows:
        seen = got.pop(number, "not tried")
        outcome, _, skip = skips.partition("=")
        if skip and seen == outcome:
            say(True, f"{family}: {what}", skip)
            continue
        say(as_wanted(seen, want), f"{family}: {what}: {want}" + ("" if as_wanted(seen, want) else f", got {seen}"))
        if outside != "-":
            say(was.get(outside, "no such state") == now.get(outside), f"{number}: {outside} outside as before")
        if record != "-":
            kind, _, glob = record.partition(" ")
            say(any(fnmatch.fnmatchcase(name, glob) for name in recs.get(kind, ())), f"{number}: recorded as {record}")
    say(not got, "every attempt has a row" + (f", but {sorted(got)[:5]}" if got else ""))
    say(len(rows) > 350, f"{len(rows)} rows")


main()
