"""Prices by zone and weight; docs/tariff.md has them for people."""

# up to grams: cents in zone 1, 2, 3
ROWS = [
    (2000, (549, 990, 1800)),
    (5000, (699, 1450, 2900)),
    (10000, (949, 2100, 4500)),
    (30000, (1649, 3800, 9200)),
]


def price(zone, grams):
    """Cents for a billable weight in a zone."""
    for limit, cents in ROWS:
        if grams <= limit:
            return cents[zone - 1]
    raise ValueError("too heavy")
