"""Who pays whom, of a file of lines."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from bill.purse import Purse
from bill.settle import settle
from bill.text import read, show

if len(sys.argv) != 2:
    sys.exit("usage: tools/settle.py FILE")
try:
    lines = read(pathlib.Path(sys.argv[1]).read_text())
    purse = Purse(sorted({name for name, _, _ in lines}))
except (OSError, ValueError) as why:
    sys.exit(str(why))
for name, amount, _ in lines:
    purse.pay(name, amount)
for debtor, creditor, amount in settle(purse.balance()):
    print(f"{debtor} pays {creditor} {show(amount)}")
