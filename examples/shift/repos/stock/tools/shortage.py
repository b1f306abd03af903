"""Say what has to be ordered."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stock import store
from stock.shortage import shortage

limits = json.loads(pathlib.Path("limits.json").read_text())
missing = shortage(store.load(), limits)
for name, pieces in sorted(missing.items()):
    print(name, pieces)
if not missing:
    print("nothing is short")
