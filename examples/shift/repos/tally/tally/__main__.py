"""python3 -m tally FILE: the report of a table of orders."""
import pathlib
import sys

from tally.csvin import read
from tally.report import by_country, summary


def main(argv):
    if len(argv) != 2:
        print("usage: python3 -m tally FILE", file=sys.stderr)
        return 2
    try:
        orders = read(pathlib.Path(argv[1]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        print(f"tally: {why}", file=sys.stderr)
        return 1
    print(summary(orders))
    print()
    print(by_country(orders))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
