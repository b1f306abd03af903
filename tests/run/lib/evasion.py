"""Compare what a program of tests/evasion counted with a trace: one line "0 or 1 TAB records TAB what" for each of its
expectations. usage: evasion.py SAID TRACE"""
import fnmatch
import json
import sys


def text(value):
    return " ".join(value) if isinstance(value, list) else str(value)


def main():
    wanted = []
    for line in open(sys.argv[1]):
        if line.startswith("#"):
            print(f"1\t0\tsaid: {line[1:].strip()}")
            continue
        kind, field, glob, how, n = line.rstrip("\n").split("\t")
        wanted.append([kind, field, glob, how, int(n), 0])
    if not wanted:
        print("1", "0", "the program said what must be there", sep="\t")
    for line in open(sys.argv[2]):
        rec = json.loads(line)
        for w in wanted:
            if rec.get("k") != w[0]:
                continue
            value = " ".join(text(rec.get(key, "")) for key in w[1].split(","))
            w[5] += w[1] == "-" or fnmatch.fnmatchcase(value, w[2])
    for kind, field, glob, how, n, got in wanted:
        good = got == n or (how == ">=" and got > n)
        print(f"{int(not good)}\t{got if good else 0}\t{kind} {'' if field == '-' else field + ' ' + glob}: {how} {n}, there are {got}")


main()
