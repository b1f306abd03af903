"""Orders from a table: one row for each line of an order.

    order,country,price,qty,coupon
    a-1,DE,2.50,3,
    a-1,DE,10.00,1,HELLO5
"""
import csv
import io

from tally.coupons import apply

COLUMNS = ["order", "country", "price", "qty", "coupon"]


def read(text):
    """Orders of a table, in the order in which they begin."""
    rows = csv.DictReader(io.StringIO(text))
    if rows.fieldnames != COLUMNS:
        raise ValueError(f"columns are {rows.fieldnames}, not {COLUMNS}")
    orders = {}
    for row in rows:
        number = row["order"]
        order = orders.setdefault(number, {"id": number, "country": row["country"], "lines": []})
        if order["country"] != row["country"]:
            raise ValueError(f"order {number} goes to two countries")
        order["lines"].append({"price": row["price"], "qty": int(row["qty"] or 1)})
        if row["coupon"]:
            orders[number] = apply(order, row["coupon"])
    return list(orders.values())
