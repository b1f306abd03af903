"""Records of single runs that have the published totals of SWE-Touch, and the published figures.

The published tables give, per model: tasks by outcome under both conditions (sums to 200), mean and
sample deviation of three runs, runs that only vanilla solved. OUTCOMES are task classes that fit all of
them at once, found by integer programming: "vvv/ccc" says in which of three runs a task is solved under
vanilla and under Counter-Edit, and how many tasks are like that. For two models no such classes exist
with exactly the published number of labelled runs (more tasks became solved in most runs than runs were
gained), so a few of their runs that only vanilla solved stay unlabelled."""
import itertools

# model as in the price file: classes, labelled runs, per cent of them in which the edit was revised
OUTCOMES = {
    "claude-opus-4-8": ("011/101:7 101/110:3 111/111:156 011/000:2 110/000:1 111/010:4 100/011:3 "
                        "000/000:22 001/100:2", 29, 23),
    "gpt-5.5": ("111/111:152 011/010:1 101/000:1 110/000:6 001/101:7 000/000:29 100/010:4", 19, 10),
    "z-ai/glm-5.1": ("101/110:4 110/111:1 111/011:3 111/111:117 011/000:25 100/101:16 000/000:24 "
                     "000/010:10", 57, 28),
    "minimax/minimax-m2.7": ("011/011:2 101/101:1 111/111:118 101/100:4 110/000:30 001/101:6 "
                             "000/000:14 001/000:25", 89, 16),
    "minimax/minimax-m2.5": ("011/011:17 111/111:102 011/000:29 011/010:4 100/011:10 001/000:5 "
                             "010/001:1 100/100:32", 78, 12),
    "qwen/qwen3.7-max": ("101/011:1 110/110:2 111/111:136 011/000:13 101/000:2 100/101:4 000/000:39 "
                         "100/000:3", 34, 10),
    "qwen/qwen3-coder": ("011/011:50 111/011:20 111/110:3 011/000:34 101/100:7 110/000:6 001/011:7 "
                         "010/111:2 100/100:71", 110, 27),
    "moonshotai/kimi-k2.6": ("101/101:42 111/011:4 111/110:23 111/111:54 011/001:12 101/100:6 "
                             "001/101:2 100/101:7 010/010:50", 41, 16),
    "deepseek/deepseek-v4-pro": ("111/101:22 111/110:6 111/111:95 011/010:10 101/100:1 111/010:17 "
                                 "100/101:7 000/000:42", 69, 11),
}
MODELS = list(OUTCOMES)

# Resolve, steps, tokens under vanilla and Counter-Edit; differences; retention; rank change.
TABLE3 = """
85.2±1.8 (1) 24.5 367 83.3±0.6 (1) 30.9 506 -1.8 +6.4 96.0 –
80.5±1.0 (2) 33.2 1,344 79.2±0.6 (2) 31.3 1,141 -1.3 -1.9 95.0 –
72.7±2.0 (7) 55.0 1,007 68.3±0.8 (4) 64.5 1,272 -4.3 +9.5 83.3 ↑3
76.5±1.5 (3) 45.3 865 62.7±2.4 (8) 47.7 904 -13.8 +2.4 78.1 ↓5
75.7±3.3 (4) 45.1 863 66.2±1.0 (5) 47.5 908 -9.5 +2.4 78.3 ↓1
75.2±1.0 (5) 29.9 420 70.3±0.8 (3) 31.1 424 -4.8 +1.2 90.3 ↑2
57.2±3.5 (9) 52.6 763 40.7±1.0 (9) 54.6 806 -16.5 +2.0 60.8 –
70.3±2.0 (8) 62.5 1,381 64.3±3.4 (6) 62.1 1,296 -6.0 -0.4 87.2 ↑2
74.8±0.8 (6) 41.9 827 63.8±1.8 (7) 46.6 954 -11.0 +4.7 81.5 ↓1
""".replace(" (", "_(").split("\n")[1:-1]
TABLE3 = [[cell.replace("_(", " (") for cell in line.split()] for line in TABLE3]

# Two benchmarks of 25 tasks, two runs: vanilla, Counter-Edit, difference, difference of steps.
TABLE4 = [line.split() for line in """
68.0 68.0 0.0 +7.5 56.0 46.0 -10.0 +9.9
38.0 38.0 0.0 +0.9 64.0 56.0 -8.0 +4.9
43.1 32.8 -10.3 +19.1 19.4 16.8 -2.5 +31.4
30.6 24.6 -6.0 +9.4 2.2 2.2 0.0 +27.6
32.6 24.6 -8.0 +20.4 0.0 0.0 0.0 +33.1
36.0 26.0 -10.0 -1.4 4.1 2.1 -2.0 +2.3
20.0 14.0 -6.0 +0.7 0.0 0.0 0.0 +7.8
50.0 48.0 -2.0 -4.7 18.0 12.0 -6.0 +0.2
34.0 32.0 -2.0 +8.9 4.1 2.0 -2.1 -7.6
""".split("\n")[1:-1]]
MEAN4 = ["39.1", "34.2", "18.6", "15.2"]

# One run of each condition, 200 tasks.
ABLATED = ["gpt-5.5", "z-ai/glm-5.1", "minimax/minimax-m2.7", "qwen/qwen3.7-max"]
TABLE5 = {
    "vanilla": "81.5 – 70.5 – 76.5 – 74.0 –",
    "message (K=3)": "79.5 -2.0 73.0 +2.5 76.5 0.0 77.0 +3.0",
    "edit (K=3)": "80.5 -1.0 66.5 -4.0 67.0 -9.5 71.5 -2.5",
    "edit+message (K=1)": "78.5 -3.0 72.0 +1.5 64.5 -12.0 71.5 -2.5",
    "edit+message (K=3)": "79.5 -2.0 69.0 -1.5 64.5 -12.0 71.0 -3.0",
    "edit+message (K=5)": "78.0 -3.5 69.0 -1.5 60.0 -16.5 69.0 -5.0",
}

# Dollars per million tokens, in and out.
TABLE7 = [(5.00, 25.00), (5.00, 30.00), (0.966, 3.036), (0.24, 0.96), (0.15, 0.90), (1.475, 4.425),
          (0.22, 1.80), (0.646, 2.72), (0.435, 0.87)]

# Tasks: kept, lost, gained, kept.
TABLE10 = [(166, 7, 3, 24), (152, 8, 7, 33), (125, 25, 16, 34), (121, 34, 6, 39), (119, 33, 10, 38),
           (139, 15, 4, 42), (73, 47, 9, 71), (123, 18, 9, 50), (123, 28, 7, 42)]

# Types of failure over 526 labelled runs; the last two are not printed, only their sum is known.
FAILURES = [("retained_conflict", 333, "63.3"), ("incorrect_replacement", 73, "13.9"),
            ("incomplete_reconciliation", 61, "11.6"), ("off_target", 29, "5.5"),
            ("insufficient_evidence", 16, "3.0"), ("verification_breakdown", 9, "1.7"),
            ("other_defect", 5, "1.0")]
REVISED = ["79.3", "52.6", "49.1", "18.0", "15.4", "29.4", "24.5", "39.0", "15.9"]

TYPES = [name for name, n, _ in FAILURES for _ in range(n)]


def spread(mean, n):
    """n whole numbers around @mean whose mean is as near to it as whole numbers allow."""
    total = round(mean * n)
    values = [total // n + (i < total % n) for i in range(n)]
    for i in range(0, n - 1, 2):  # no two runs alike
        step = min(i % 7, values[i], values[i + 1])
        values[i] += step
        values[i + 1] -= step
    return values


def record(model, task, mode, k, repeat, verdict, **more):
    value = {"schema": "proctor.result/1", "instance_id": task, "model": model, "agent": "mini",
             "mode": mode, "k": k, "repeat": repeat, "verdict": verdict, "completed": True,
             "pair_digest": f"{model}/{task}"}
    value.update(more)
    return value


def tasks_of(model):
    """(vanilla, counter-edit) outcomes of each task, in a fixed order."""
    for entry in OUTCOMES[model][0].split():
        pattern, n = entry.split(":")
        for _ in range(int(n)):
            yield pattern.split("/")


def fill_usage(rows, steps, tokens):
    """Steps and tokens with the published means over completed runs; every 25th run hit a limit and
    must not count."""
    done = [row for i, row in enumerate(rows) if i % 25 != 7]
    for row, step, token in zip(done, spread(steps, len(done)), spread(tokens, len(done))):
        row["steps"] = step
        row["output_tokens"] = (token * 1000) // 40
        row["input_tokens"] = token * 1000 - row["output_tokens"]
        row["cached_tokens"] = row["input_tokens"] // 2
    for i, row in enumerate(rows):
        if i % 25 == 7:
            row.update(completed=False, steps=500, input_tokens=9000000, cached_tokens=0,
                       output_tokens=100000)


def label_runs(model, pairs):
    """Labels of runs that only vanilla solved: the first ones; TYPES are dealt out over all models, a
    prime apart, so that every model gets several."""
    _, labelled, revised = OUTCOMES[model]
    first = sum(OUTCOMES[m][1] for m in MODELS[:MODELS.index(model)])
    for i, row in enumerate(pairs[:labelled]):
        row["label"] = TYPES[(first + i) * 101 % len(TYPES)]
        row["label_by"] = "human" if i % 10 == 3 else "rule"
        row["revised"] = i < revised
        row["response"] = "revised" if i < revised else "kept"


def verified():
    """10,800 runs of nine models: 200 tasks, two conditions, three repeats."""
    rows = []
    for at, model in enumerate(MODELS):
        vanilla, counter, pairs = [], [], []
        for t, (v, c) in enumerate(tasks_of(model)):
            task = f"task__{t:03d}"
            for r in range(3):
                vanilla.append(record(model, task, "vanilla", 0, r + 1,
                                      "resolved" if v[r] == "1" else "unresolved"))
                counter.append(record(model, task, "edit+message", 3, r + 1,
                                      "resolved" if c[r] == "1" else "unresolved", fired=3,
                                      reads_after=t % 5, edits_after=r, tests_after=1))
                if v[r] == "1" and c[r] == "0":
                    pairs.append(counter[-1])
        number = [float(cell.replace(",", "")) for i, cell in enumerate(TABLE3[at])
                  if i in (1, 2, 4, 5)]
        fill_usage(vanilla, number[0], number[1])
        fill_usage(counter, number[2], number[3])
        label_runs(model, pairs)
        rows += vanilla + counter
    for row in rows:
        row["benchmark"] = "swe_bench_verified"
    return rows


def excluded():
    """Runs without a result: they must change no rate."""
    for mode, k, verdict in (("vanilla", 0, "infra"), ("vanilla", 0, "invalid"),
                             ("edit+message", 3, "none")):
        for r in range(3):
            yield record("gpt-5.5", f"broken-{verdict}", mode, k, r + 1, verdict, completed=False,
                         benchmark="swe_bench_verified")


def ablations():
    """The other conditions: one run each, paired with run 1."""
    for at, model in enumerate(ABLATED):
        for name, cells in TABLE5.items():
            if name in ("vanilla", "edit+message (K=3)"):
                continue
            solved = round(float(cells.split()[2 * at]) * 2)
            mode, k = name.split(" (K=")
            for t in range(200):
                yield record(model, f"task__{t:03d}", mode, int(k[:-1]), 1,
                             "resolved" if t < solved else "unresolved", steps=40,
                             benchmark="swe_bench_verified")


def two_runs(text, tasks=25):
    """Ways in which two runs over at most 25 tasks each print as @text, fewest exclusions first."""
    ways = []
    for lost in range(0, 9):
        for first in range(0, lost + 1):
            a, b = tasks - first, tasks - (lost - first)
            if a < b:
                continue
            for x, y in itertools.product(range(a + 1), range(b + 1)):
                mean = 50.0 * x / a + 50.0 * y / b
                if f"{mean:.1f}" == text:
                    ways.append((mean, ((x, a), (y, b))))
    return ways


def horizon_runs(vanilla, counter, delta):
    """Runs of both conditions that print as the three texts."""
    others = two_runs(counter)
    for mean, runs in two_runs(vanilla):
        for other, more in others:
            if f"{other - mean:+.1f}".replace("+0.0", "0.0").replace("-0.0", "0.0") == delta:
                return runs, more
    raise AssertionError((vanilla, counter, delta))


def horizon():
    """1,800 runs of both longer benchmarks; trials that were left out are infra."""
    for at, model in enumerate(MODELS):
        for b, bench in enumerate(("swe_bench_pro", "deepswe")):
            v, c, delta, steps = TABLE4[at][4 * b:4 * b + 4]
            for (mode, k), runs in zip((("vanilla", 0), ("edit+message", 3)),
                                       horizon_runs(v, c, delta)):
                counts = spread(100 + (float(steps) if k else 0), 50)
                for r, (solved, valid) in enumerate(runs):
                    for t in range(25):
                        verdict = ("resolved" if t < solved else "unresolved" if t < valid
                                   else "infra")
                        yield record(model, f"{bench}-{t}", mode, k, r + 1, verdict,
                                     steps=counts[25 * r + t], benchmark=bench)
