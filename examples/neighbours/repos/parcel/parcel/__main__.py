"""python3 -m parcel FILE: prices of the parcels of a file."""
import sys

from parcel.batch import report

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m parcel FILE.csv")
    with open(sys.argv[1], newline="") as lines:
        sys.stdout.write(report(lines))
