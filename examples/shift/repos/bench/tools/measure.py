"""Measure, and write down what was measured."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from sorter.measure import measure, save

found = measure()
save(found)
print("comparisons:", found["comparisons"])
