"""A file of parcels: comma-separated, the first line names the columns."""
import csv

from parcel.quote import quote


def parcels(lines):
    """Parcels of the lines of a file."""
    for row in csv.DictReader(lines):
        yield {
            "id": row["id"],
            "country": row["country"],
            "grams": int(row["grams"]),
            "size": tuple(int(side) for side in row["size"].split("x")),
            "insured": row.get("insured") == "yes",
        }


def show(cents):
    """Text of an amount."""
    return f"{cents // 100}.{cents % 100:02d}"


def report(lines):
    """A line for each parcel of a file: its id and its price."""
    return "".join(f"{parcel['id']} {show(quote(parcel))}\n" for parcel in parcels(lines))
