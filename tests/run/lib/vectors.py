"""What tests/run/vectors.sh says, cell by cell. Figures that are not published (p values, intervals, costs,
behaviour) are worked out here once more, in exact fractions where possible."""
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vectors_data as data  # noqa: E402
from runlib import PROCTOR, TOP, Place, Tap  # noqa: E402

ENV = dict(os.environ, PROCTOR_DATADIR=os.path.join(TOP, "profiles/data"))
VERIFIED = ["--benchmark", "swe_bench_verified"]


def report(*args, status=0):
    done = subprocess.run([PROCTOR, "report", *args], capture_output=True, text=True, check=False,
                          timeout=120, env=ENV)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def cells(*args):
    """{first cell: other cells} as people see them, from the Markdown form; the heads under ""."""
    rows = {}
    for line in report("--format", "markdown", *args).splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            row = [c.strip().replace("\\", "") for c in line.strip("|").split("|")]
            rows["" if not rows else row[0]] = row if not rows else row[1:]
    return rows


def values(*args):
    """{(model, condition or none): row} with unrounded figures, from the JSON form."""
    doc = json.loads(report("--format", "json", *args))
    return {(row.get("model"), row.get("condition")): row for row in doc["tables"][0]["rows"]}, doc


def write_lines(place, name, rows):
    return place.write(name, "".join(json.dumps(row) + "\n" for row in rows))


def write_run(place, name, row):
    """The same record as a run directory."""
    run = {"schema": "proctor.run/1", "benchmark": row["benchmark"], "end": {"reason": "exited"},
           "task": {"instance_id": row["instance_id"]}, "agent": row["agent"], "repeat": row["repeat"],
           "condition": {"mode": row["mode"], "k": row["k"]}, "pair_digest": row["pair_digest"],
           "scenario": "s" if row["k"] else None, "commands": 1,
           "model": {"name": row["model"], "calls": row["steps"], "input_tokens": 1,
                     "cached_tokens": 0, "output_tokens": 1, "micro_dollars": None}}
    place.json(name + "/run.json", run)
    place.json(name + "/verdict.json", {"schema": "proctor.verdict/1", "verdict": row["verdict"]})


def main_table(tap, files):
    got = cells("--table", "3", *VERIFIED, *files)
    for model, want in zip(data.MODELS, data.TABLE3):
        tap.equal([c for i, c in enumerate(got[model]) if i not in (3, 7)], want,
                  f"table 3, {model}")
    tap.equal(got["gpt-5.5"][3] + " " + got["gpt-5.5"][7], "6 3",
              "table 3: runs without a result stand beside", got[""])
    tap.equal(got["Mean"][8], "-7.7", "table 3: mean of the nine differences")
    rows, _ = values("--table", "3", *VERIFIED, *files)
    tap.ok(abs(rows[("claude-opus-4-8", None)]["delta_resolve"] + 11 / 6) < 1e-9 and
           "delta_delta" not in rows, "the differences are those of unrounded means",
           rows[("claude-opus-4-8", None)])


def outcomes(tap, files):
    got = cells("--table", "10", *VERIFIED, *files)
    for model, want in zip(data.MODELS, data.TABLE10):
        tap.equal(got[model][:4], [str(n) for n in want], f"table 10, {model}")
        tap.equal(sum(map(int, got[model][:4])), 200, f"table 10, {model}: sums to the tasks")
    tap.equal(got["Total"][1], "215", "table 10: tasks lost over nine models")


def horizon(tap, files):
    both = ["--benchmark", "swe_bench_pro", "--benchmark", "deepswe"]
    got = cells("--table", "4", *both, *files)
    for model, want in zip(data.MODELS, data.TABLE4):
        tap.equal(got[model][0:4] + got[model][5:9], want, f"table 4, {model}")
    tap.equal([got["Mean"][i] for i in (0, 1, 5, 6)], data.MEAN4, "table 4: means")
    tap.ok(any(row[4] != "0" for model, row in got.items() if model in data.MODELS),
           "table 4: trials that were left out are shown")


def ablation(tap, files):
    got = cells("--table", "5", *VERIFIED, *files)
    tap.equal(list(got)[1:], list(data.TABLE5), "table 5: conditions in their order")
    for name, want in data.TABLE5.items():
        tap.equal(got.get(name), want.split(), f"table 5, {name}")


def prices(tap, files):
    rows, _ = values("--table", "7", *VERIFIED, *files)
    for model, (price_in, price_out) in zip(data.MODELS, data.TABLE7):
        row = rows[(model, None)]
        tap.equal((row["input"], row["output"], row["cached"]), (price_in, price_out, price_in),
                  f"table 7, {model}")


def costs(tap, files, rows):
    """Dollars by the shipped prices: cached input costs what input costs in the published table."""
    got, _ = values("--table", "cost", "--prices", "shipped", *VERIFIED, *files)
    for model, (price_in, price_out) in zip(data.MODELS, data.TABLE7):
        mine = [r for r in rows if r["model"] == model and r["mode"] == "vanilla"]
        micro = sum(math.ceil(r["input_tokens"] * Fraction(str(price_in)) +
                              r["output_tokens"] * Fraction(str(price_out))) for r in mine)
        row = got[(model, "vanilla")]
        tap.ok(abs(row["dollars_sum"] - micro / 1e6) < 1e-6, f"cost, {model}",
               f"got {row['dollars_sum']}, want {micro / 1e6}")
    got, _ = values("--table", "cost", *VERIFIED, *files)
    tap.ok(got[("gpt-5.5", "vanilla")]["dollars_sum"] is None and
           got[("gpt-5.5", "vanilla")]["unknown"] == 606, "without prices the cost is unknown, not zero")
    text = report("--table", "cost", *VERIFIED, *files)
    tap.ok("unknown" in text and "$0" not in text, "and says so")


def failures(tap, files):
    got = cells("--table", "failures", *VERIFIED, *files)
    tap.equal(got["All"][1], "526", "failures: labelled runs")
    tap.equal(got["All"][2:9], [share for _, _, share in data.FAILURES], "failures: shares of all")
    for model, want in zip(data.MODELS, data.REVISED):
        tap.equal((got[model][1], got[model][9]), (str(data.OUTCOMES[model][1]), want),
                  f"failures, {model}: labelled, edit revised")
        tap.ok(abs(sum(map(float, got[model][2:9])) - 100) < 0.5, f"failures, {model}: shares")
    tap.ok("9 models: 0.80." in report("--table", "failures", *VERIFIED, *files),
           "failures: rank correlation")


def newcombe(both, first, second, neither):
    """Method 10 again, written down from the paper's formulas."""
    n, z = both + first + second + neither, 1.959963984540054

    def wilson(k):
        mid = (2 * k + z * z) / (2 * (n + z * z))
        half = z * math.sqrt(z * z + 4 * k * (1 - k / n)) / (2 * (n + z * z))
        return mid - half, mid + half

    p1, p2 = (both + first) / n, (both + second) / n
    (l1, u1), (l2, u2) = wilson(both + first), wilson(both + second)
    a = both * neither - first * second
    phi = (max(a - n / 2, 0) if a > 0 else a) / math.sqrt(
        (both + first) * (second + neither) * (both + second) * (first + neither))
    low = math.sqrt((p1 - l1)**2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2)**2)
    high = math.sqrt((p2 - l2)**2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1)**2)
    return p1 - p2 - low, p1 - p2 + high


def significance(tap, files, rows):
    got, _ = values("--table", "tests", *VERIFIED, *files)
    for model, (kept, lost, gained, un) in zip(data.MODELS, data.TABLE10):
        row = got[(model, None)]
        n = lost + gained
        tail = sum(Fraction(math.comb(n, i), 2**n) for i in range(min(lost, gained) + 1))
        worse = sum(Fraction(math.comb(n, i), 2**n) for i in range(lost, n + 1))
        low, high = newcombe(kept, gained, lost, un)
        tap.ok(abs(row["tasks_by_most_runs_p"] - float(min(2 * tail, 1))) < 1e-9 and
               abs(row["tasks_by_most_runs_p_worse"] - float(worse)) < 1e-9 and
               abs(row["tasks_by_most_runs_low"] - 100 * low) < 1e-6 and
               abs(row["tasks_by_most_runs_high"] - 100 * high) < 1e-6,
               f"tests, {model}: McNemar, Newcombe", row, float(2 * tail), float(worse), low, high)
        diff = {}
        for r in rows:
            if r["model"] == model:
                sign = 1 if r["mode"] != "vanilla" else -1
                diff[r["instance_id"]] = (diff.get(r["instance_id"], 0) +
                                          sign * (r["verdict"] == "resolved") / 3)
        mean = sum(diff.values()) / 200
        error = math.sqrt(sum((d - mean)**2 for d in diff.values()) / 200 / 200)
        tap.ok(abs(row["share_of_solved_runs_delta"] - 100 * mean) < 1e-9 and
               abs(row["share_of_solved_runs_low"] - 100 * (mean - 1.96 * error)) < 60 * error and
               abs(row["share_of_solved_runs_high"] - 100 * (mean + 1.96 * error)) < 60 * error,
               f"tests, {model}: bootstrap about two standard errors to both sides", row, mean, error)


def behaviour(tap, files, rows):
    got, _ = values("--table", "behaviour", *VERIFIED, *files)
    for model in data.MODELS:
        mine = [r for r in rows if r["model"] == model and r["mode"] != "vanilla"]
        known = [r for r in mine if "response" in r]
        want = (600, sum(r["reads_after"] for r in mine) / 600, 1.0,
                100 * sum(r["response"] == "kept" for r in known) / len(known))
        row = got[(model, "edit+message (K=3)")]
        found = (row["after_the_edit_runs"], row["after_the_edit_reads"],
                 row["after_the_edit_tests"], row["the_edit_was_kept"])
        tap.ok(all(abs(a - b) < 1e-9 for a, b in zip(found, want)), f"behaviour, {model}", found,
               want)


def pairs(tap, place, rows):
    """Runs that are no pair, and runs that are there twice."""
    few = [dict(r) for r in rows if r["model"] == "gpt-5.5" and r["instance_id"] == "task__007"]
    few[4]["pair_digest"] = "another"
    bad = write_lines(place, "bad.jsonl", few)
    text = report(bad, status=3)
    tap.ok("bad.jsonl:2" in text and "bad.jsonl:5" in text and "--force-pairs" in text,
           "a pair whose plans differ is refused, both runs named", text)
    tap.ok("1 pairs are counted although" in report(bad, "--force-pairs", "--table", "3"),
           "and counted when that is asked for, with a note")
    twice = write_lines(place, "twice.jsonl", few[:1] + few[:1])
    tap.ok("twice.jsonl:1 and" in report(twice, status=3), "the same run twice is refused")
    text = report(bad, "--force-pairs", "--condition", "edit+message (K=9)", status=3)
    tap.ok('did you mean "edit+message (K=3)"' in text, "a condition that is not there", text)
    text = report(bad, "--force-pairs", "--benchmark", "swe_bench_verifed", status=3)
    tap.ok('did you mean "swe_bench_verified"' in text, "a benchmark that is not there", text)


def sizes(tap, place):
    """Table 2 from the released records, which are not ours to ship: Verified as published; the other two
    as counted in that release (the published sizes of their edits are of another version)."""
    records = os.environ.get("PROCTOR_SWETOUCH_DATA")
    if not records:
        tap.skip("table 2 of the released records", "swe-touch-data: PROCTOR_SWETOUCH_DATA is not set")
        return
    for name in ("swe_bench_verified", "swe_bench_pro", "deepswe"):
        subprocess.run([PROCTOR, "import", "swe-touch", "-q", "--accept-apply-conflict", "--out",
                        place.path("records", name), os.path.join(records, name + ".jsonl")],
                       check=True, timeout=120, env=ENV, stdout=subprocess.DEVNULL)
    got = cells("--table", "2", "--sizes", place.path("records"))
    for name, want in (("swe_bench_verified", ["200", "7.0", "1.04", "192"]),
                       ("swe_bench_pro", ["25", "11.6", "1.44", "25"]),
                       ("deepswe", ["25", "10.2", "1.52", "25"])):
        tap.equal([got[name][i] for i in (0, 4, 5, 6)], want, f"table 2, {name}")


def round_trip(tap, place, files):
    """results.jsonl that the program writes gives the same tables."""
    again = place.path("again.jsonl")
    report("--results", again, "--table", "3", *files)
    tap.equal(report("--table", "3", again), report("--table", "3", *files),
              "records written and read again give the same table")
    with open(again, encoding="utf-8") as lines:
        tap.equal(sum(1 for _ in lines), 10800 + 9 + 3200 + 1800, "every run is a line")


def main():
    tap = Tap()
    rows = data.verified()
    with Place() as place:
        files = [write_lines(place, "verified.jsonl", rows + list(data.excluded())),
                 write_lines(place, "ablations.jsonl", data.ablations())]
        for i, row in enumerate(data.horizon()):
            write_run(place, f"runs/{row['benchmark']}/{i:04d}", row)
        files.append(place.path("runs"))
        main_table(tap, files)
        outcomes(tap, files)
        horizon(tap, files)
        ablation(tap, files)
        prices(tap, files)
        costs(tap, files, rows)
        failures(tap, files)
        significance(tap, files, rows)
        behaviour(tap, files, rows)
        pairs(tap, place, rows)
        sizes(tap, place)
        round_trip(tap, place, files)
    tap.done()


if __name__ == "__main__":
    main()
