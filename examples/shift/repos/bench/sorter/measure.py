"""What is written down of a measurement."""
import hashlib
import json
import pathlib

from sorter.count import Count
from sorter.sort import sort

OF = ("sorter/sort.py", "data/words.txt")


def digest(root="."):
    """Digest of what a number is of."""
    return hashlib.sha256(b"".join((pathlib.Path(root) / name).read_bytes() for name in OF)).hexdigest()


def measure(root="."):
    """The number, and what it is of."""
    count = Count()
    sort((pathlib.Path(root) / OF[1]).read_text().split(), count)
    return {"comparisons": count.n, "measured": digest(root)}


def save(found, path="out/measure.json"):
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found) + "\n")


def load(path):
    """A measurement that was kept; ValueError when the file holds none."""
    found = json.loads(pathlib.Path(path).read_text())
    if not isinstance(found, dict) or not isinstance(found.get("comparisons"), int):
        raise ValueError(f"{path} holds no measurement")
    return found
