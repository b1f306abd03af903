"""What is left on the table beside the bill."""

USUAL = {"DE": 8, "FR": 5, "US": 18}


def tip(amount, country):
    """The usual tip in cents, rounded up to ten of them; nothing where none is left."""
    percent = USUAL.get(country, 0)
    return -(-amount * percent // 1000) * 10


def with_tip(amount, country):
    """Amount and tip, rounded up to a whole sum when that adds less than half of one."""
    together = amount + tip(amount, country)
    up = -together % 100
    return together + up if up < 50 else together
