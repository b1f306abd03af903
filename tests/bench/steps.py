#!/usr/bin/env python3
"""What the digests of steps.jsonl cost: time that one request to the model takes more with "steps" than without.

usage: steps.py [--pairs N] [--requests N] [--files N,N,...]

The shipped agent gets an answer from a script, writes one file, and asks again. Before that a command puts so many files
of 4 KiB into the workspace, which every digest has to look at. Both arms are run in turn; the figures are medians over
the pairs. The program under test is $PROCTOR (default build/supervisor/proctor).
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]


def script(files, requests):
    fill = f"mkdir -p d && for i in $(seq {files}); do head -c 4096 /dev/zero >d/$i; done; echo made" if files else "echo none"
    turns = [{"tools": [{"shell": fill}]}]
    turns += [{"tools": [{"write": {"path": "x.txt", "content": str(i)}}]} for i in range(requests)]
    return {"schema": "proctor.script/1", "turns": turns + [{"text": "Done."}]}


def seconds(proctor, steps, out):
    """Time from the second request, when the files are there, to the last."""
    subprocess.run([proctor, "run", "-q", "--no-tty", "--task", "task.json", "--agent", "actor", "--model", "script:script.json",
                    "--set", "steps=" + steps, "--out", out], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    times = [rec["t"] for rec in map(json.loads, open(out + "/trace.jsonl")) if rec.get("k") == "model"]
    shutil.rmtree(out)
    return (times[-1] - times[1]) / 1e9


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--files", default="0,100,1000,10000")
    args = parser.parse_args()
    proctor = os.path.abspath(os.environ.get("PROCTOR", TOP / "build/supervisor/proctor"))
    os.environ.setdefault("PROCTOR_DATADIR", str(TOP / "profiles/data"))
    print(f"{os.cpu_count()} processors, Linux {platform.release()}, {args.pairs} pairs of {args.requests} requests")
    print("changed files   ms a request without   with   more   ratio")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        os.chdir(work)
        os.mkdir("repo")
        pathlib.Path("repo/a.txt").write_text("one\n")
        pathlib.Path("task.json").write_text(json.dumps(
            {"schema": "proctor.task/1", "instance_id": "steps", "problem_statement": "Write.", "source": "repo"}))
        for files in map(int, args.files.split(",")):
            pathlib.Path("script.json").write_text(json.dumps(script(files, args.requests)))
            pairs = [(seconds(proctor, "false", "a"), seconds(proctor, "true", "b")) for _ in range(args.pairs)]
            without, with_ = (statistics.median(p[i] for p in pairs) / args.requests * 1e3 for i in (0, 1))
            more = statistics.median(b - a for a, b in pairs) / args.requests * 1e3
            ratio = statistics.median(b / a for a, b in pairs)
            print(f"{files:13} {without:22.2f} {with_:6.2f} {more:6.2f} {ratio:7.2f}")
        os.chdir("/")


if __name__ == "__main__":
    main()
