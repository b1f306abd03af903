"""Search the index that was built."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from index import notes, store
from index.query import find, parse
from index.words import snippet

if len(sys.argv) < 2:
    sys.exit("usage: tools/search.py WORD...")
try:
    index = store.load("out/index.json")
except FileNotFoundError:
    sys.exit("there is no index yet: tools/build.py makes it")
asked = " ".join(sys.argv[1:])
try:
    found = find(index, asked)
except ValueError as why:
    sys.exit(str(why))
texts = {note.name: note for note in notes.load("notes")}
for name in found:
    print(f"{name}: {texts[name].title}: {snippet(texts[name].text, parse(asked)[0][0])}")
