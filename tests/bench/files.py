#!/usr/bin/env python3
"""Cost of watching, as ratios measured side by side in one run.

usage: tests/bench/files.py [--pairs N] [--only WORKLOAD] [--build DIR]

Each round runs every arm once, in turn; a ratio is taken within the round, the median over rounds
is printed. Arms: native; proctor at trace level off, files and full; strace -f --seccomp-bpf with
the same system calls as level files, writing to /dev/null. Times are taken inside (tests/bench/
timed.c), so start-up is not in them. "of strace" is added time of the arm / added time of strace."""
import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def calls_of(level):
    """Names of the rows that a level stops at, from the table that the program is built from."""
    names = []
    for line in open(os.path.join(TOP, "base/systab_rows.inc"), encoding="utf-8"):
        row = re.match(r"ROW\((\w+),\s*\w+,\s*([^,]+),", line)
        if row and (f"SYS_{level}" in row[2] or "SYS_FILES" in row[2]):
            names.append(row[1])
    return ",".join("?" + n for n in names)


def make_grep(place):
    for i in range(100):
        os.makedirs(f"{place}/tree/d{i}")
        for k in range(100):
            with open(f"{place}/tree/d{i}/f{k}.txt", "w", encoding="utf-8") as f:
                f.write("some words\n" * 20 + f"{i} {k}\n")
    return ["sh", "-c", "grep -rn nothing-like-this tree; test $? = 1"]


def make_build(place):
    for i in range(40):
        with open(f"{place}/f{i}.c", "w", encoding="utf-8") as f:
            f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" +
                    "".join(f"int f{i}_{k}(int x) {{ return printf(\"%d\", x + {k}); }}\n" for k in range(40)))
    with open(f"{place}/Makefile", "w", encoding="utf-8") as f:
        f.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tcc -O1 -c -o /dev/null $<\n")
    return ["make", "-s", "-j2"]


def make_pytest(place):
    with open(f"{place}/test_n.py", "w", encoding="utf-8") as f:
        f.write("import pytest\n@pytest.mark.parametrize('n', range(400))\ndef test_n(n):\n"
                "    s = 0\n    for i in range(2000):\n        s += i * n\n    assert s >= 0\n")
    return ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def make_short(place):
    with open(f"{place}/s.sh", "w", encoding="utf-8") as f:
        f.write("i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done\n")
    return ["sh", "s.sh"]


WORKLOADS = {"grep": make_grep, "build": make_build, "pytest": make_pytest, "short": make_short}


class Bench:
    def __init__(self, build):
        self.proctor = os.path.join(build, "supervisor/proctor")
        self.timed = os.path.join(build, "tests/bench/timed")

    def arms(self, place):
        def proctor(level):
            out = tempfile.mkdtemp(dir=place + ".runs")
            return [self.proctor, "run", "-q", "--no-tty", "--trace", level, "--out", out, "--"]
        return {
            "native": lambda: [],
            "off": lambda: proctor("off"),
            "files": lambda: proctor("files"),
            "full": lambda: proctor("full"),
            "strace": lambda: ["strace", "-f", "--seccomp-bpf", "-e", "trace=" + calls_of("FILES"),
                               "-o", "/dev/null"],
            "strace-full": lambda: ["strace", "-f", "--seccomp-bpf", "-e",
                                    "trace=" + calls_of("FULL"), "-o", "/dev/null"],
        }

    def once(self, prefix, place, command):
        done = subprocess.run([*prefix, place + "/timed", *command], cwd=place, capture_output=True,
                              check=False, stdin=subprocess.DEVNULL)
        found = re.search(rb"TIMED (\d+)", done.stdout)
        if not found:
            sys.exit(f"no time from {prefix} {command}:\n{done.stderr.decode()[-2000:]}")
        return int(found[1]) / 1e9

    def workload(self, name, pairs):
        with tempfile.TemporaryDirectory(prefix="bench-", dir="/var/tmp") as top:
            place = top + "/w"
            os.mkdir(place)
            os.mkdir(place + ".runs")
            command = WORKLOADS[name](place)
            shutil.copy(self.timed, place + "/timed")
            arms = self.arms(place)
            times = {arm: [] for arm in arms}
            self.once([], place, command)
            for _ in range(pairs):
                for arm, prefix in arms.items():
                    times[arm].append(self.once(prefix(), place, command))
                    shutil.rmtree(place + ".runs")
                    os.mkdir(place + ".runs")
        return times


def median_ratio(over, under):
    return statistics.median(o / u for o, u in zip(over, under))


def report(name, times):
    native = times["native"]
    print(f"{name}: native {statistics.median(native) * 1e3:.0f} ms, {len(native)} rounds")
    for arm, got in times.items():
        if arm == "native":
            continue
        ref = "strace-full" if arm in ("full", "strace-full") else "strace"
        share = statistics.median((g - n) / max(s - n, 1e-9)
                                  for g, n, s in zip(got, native, times[ref]))
        print(f"  {arm:12} {median_ratio(got, native):6.2f} x native   {share * 100:5.0f} % of what {ref} adds")


def main():
    opts = argparse.ArgumentParser()
    opts.add_argument("--pairs", type=int, default=7)
    opts.add_argument("--only", choices=WORKLOADS)
    opts.add_argument("--build", default=os.path.join(TOP, "build"))
    args = opts.parse_args()
    bench = Bench(os.path.abspath(args.build))
    print(f"kernel {platform.release()}, {os.cpu_count()} processors, "
          f"{subprocess.run(['strace', '-V'], capture_output=True, text=True, check=False).stdout.splitlines()[0]}")
    for name in [args.only] if args.only else WORKLOADS:
        report(name, bench.workload(name, args.pairs))
        sys.stdout.flush()


main()
