import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stock.api import call
from stock.convert import keep

session = pathlib.Path(".session").read_text()
found = keep(call("GET", "/items", session=session))
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/stock.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
print(len(found), "items")
