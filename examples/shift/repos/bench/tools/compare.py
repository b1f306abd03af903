"""Two measurements side by side; they are only set against each other when the words are the same."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from sorter.measure import digest, load

if len(sys.argv) != 3:
    sys.exit("usage: tools/compare.py A B")
try:
    a, b = load(sys.argv[1]), load(sys.argv[2])
except (OSError, ValueError) as why:
    sys.exit(str(why))
for name, one in zip(sys.argv[1:], (a, b)):
    print(f"{name}: {one['comparisons']}{'' if one.get('measured') == digest() else ' (of something else)'}")
print(f"by {b['comparisons'] - a['comparisons']:+d}")
