"""Build out/index.json; only one of us at a time."""
import fcntl
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from index import notes, store

lock = open("build.lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("build.lock is held by another process; somebody builds, or an old build hangs")
found = store.make(notes.load("notes"))
store.save(found, "out/index.json")
print(len(found), "words")
