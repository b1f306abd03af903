"""Build out/index.json; only one of us at a time."""
import fcntl
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from index.words import words

lock = open("build.lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("build.lock is held by another process; somebody builds, or an old build hangs")
found = {}
for note in sorted(pathlib.Path("notes").glob("*.txt")):
    for word in words(note.read_text()):
        found.setdefault(word, []).append(note.name)
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/index.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
print(len(found), "words")
