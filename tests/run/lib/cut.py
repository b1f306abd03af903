"""What tests/run/cut.sh says: the records of a run, cut at any byte, are read as far as they go.

usage: cut.py [--all]   every byte of every record (the full lane); otherwise a spread sample
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faultlib as f  # noqa: E402
from runlib import Tap  # noqa: E402

RECORDS = ["trace.jsonl", "model.jsonl", "interventions.jsonl", "steps.jsonl"]
FAST = 6  # places in each record
COMMANDS = {
    "trace": lambda w, run: ["trace", run],
    "label": lambda w, run: ["label", run],
    "judge": lambda w, run: ["judge", run],
    "report": lambda w, run: ["report", run],
    "grade": lambda w, run: ["grade", "-q", "--run", run],
}
MAY = {0, 1, 3}  # done, a negative result, a bad file: nothing else is right for a record that was cut


def problems_of(done, name, run):
    bad = []
    if done.returncode not in MAY:
        bad.append(f"status {done.returncode}")
    said = [line for line in done.stderr.splitlines() if line.startswith("proctor: ")]
    if done.returncode == 3 and (len(said) != 1 or os.path.basename(run) not in said[0]):
        bad.append(f"status 3 without one message that names the file: {said}")
    if name == "trace" and done.returncode != 0:
        bad.append("a trace is shown as far as it goes")
    return [f"{p} | {done.stderr.strip()[:300]}" for p in bad]


def places(path, everything):
    size = os.path.getsize(path)
    if everything:
        return range(size + 1)
    with open(path, "rb") as file:
        data = file.read()
    ends = [i + 1 for i, c in enumerate(data) if c == 10]
    step = max(size // FAST, 1)
    return sorted({0, 1, size - 1, *range(0, size, step), *(e + d for e in ends[:2] for d in (-1, 0, 1))})


def walk(world, tap, run, name, everything):
    """Cut one record at its places; the commands that read it each time."""
    good = os.path.join(run, name)
    with open(good, "rb") as file:
        data = file.read()
    counts, bad = {c: 0 for c in COMMANDS}, {c: [] for c in COMMANDS}
    copy = world.path("cut")
    for at in places(good, everything):
        for command, args in COMMANDS.items():
            # A grading takes a third of a second, and reads no more than the rest: every twentieth byte will do.
            if command == "grade" and everything and at % 20:
                continue
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(run, copy)
            with open(os.path.join(copy, name), "wb") as file:
                file.write(data[:at])
            done = subprocess.run([f.PROCTOR, *args(world, copy)], env=world.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, encoding="utf-8", errors="replace", timeout=f.WATCHDOG, check=False)
            counts[command] += 1
            bad[command] += [f"at byte {at}: {p}" for p in problems_of(done, command, copy)]
    for command in COMMANDS:
        tap.ok(counts[command] and not bad[command], f"{command}: {name} cut at {counts[command]} of {len(data) + 1} places",
               "\n".join(bad[command][:10]))


def main():
    tap = Tap()
    with f.World() as world:
        run = world.path("run")
        done = world.call(world.run_args(run))
        tap.ok(done.status == 0, "the run is made", done.err)
        for name in RECORDS:
            walk(world, tap, run, name, "--all" in sys.argv)
    tap.done()


if __name__ == "__main__":
    main()
