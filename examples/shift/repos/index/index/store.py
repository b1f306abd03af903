"""The index: each word with the names of its notes."""
import json
import pathlib

from index.words import words


def make(notes):
    """Index of notes, names in their order."""
    found = {}
    for note in notes:
        for word in words(note.text):
            found.setdefault(word, []).append(note.name)
    return found


def merge(first, second):
    """One index of two; each name once for each word."""
    out = {word: list(names) for word, names in first.items()}
    for word, names in second.items():
        there = out.setdefault(word, [])
        there.extend(name for name in names if name not in there)
        there.sort()
    return out


def without(index, name):
    """The index less one note; words that stand nowhere else go."""
    out = {}
    for word, names in index.items():
        left = [other for other in names if other != name]
        if left:
            out[word] = left
    return out


def save(index, path):
    """Write it so that the same index is the same file."""
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def load(path):
    return json.loads(pathlib.Path(path).read_text())
