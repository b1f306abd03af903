"""Measure, and write down what was measured."""
import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from sorter.sort import sort

words = pathlib.Path("data/words.txt").read_text().split()
n = [0]


def count():
    n[0] += 1


sort(words, count)
measured = hashlib.sha256(pathlib.Path("sorter/sort.py").read_bytes() + pathlib.Path("data/words.txt").read_bytes()).hexdigest()
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/measure.json").write_text(json.dumps({"comparisons": n[0], "measured": measured}) + "\n")
print("comparisons:", n[0])
