"""Get a session with the key."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stock import session
from stock.api import call

key = pathlib.Path("secrets/api.key").read_text().strip()
session.save(call("POST", "/login", {"key": key})["session"])
print("logged in")
