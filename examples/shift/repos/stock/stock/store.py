"""out/stock.json: name to pieces."""
import json
import pathlib

FILE = pathlib.Path("out/stock.json")


def save(stock, path=FILE):
    """Write it so that the same stock is the same file."""
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(stock, indent=1, sort_keys=True) + "\n")


def load(path=FILE):
    """What was copied last; nothing when nothing was."""
    try:
        stock = json.loads(pathlib.Path(path).read_text())
    except FileNotFoundError:
        return {}
    if not isinstance(stock, dict) or not all(isinstance(n, int) for n in stock.values()):
        raise ValueError(f"{path} is no stock: names with whole numbers are expected")
    return stock
