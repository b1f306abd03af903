"""Copy the stock, and say what is another than before."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stock import session, store
from stock.api import call
from stock.convert import keep
from stock.diff import diff

before = store.load()
found = keep(call("GET", "/items", session=session.load()))
store.save(found)
for line in diff(before, found):
    print(line)
print(len(found), "items")
