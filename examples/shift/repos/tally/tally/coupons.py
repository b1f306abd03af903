"""Codes that customers type in."""

CODES = {"HELLO5": 5, "SPRING10": 10, "STAFF30": 30}


def percent_of(code):
    """Percent that a code is good for."""
    try:
        return CODES[code.strip().upper()]
    except KeyError:
        raise ValueError(f"{code!r} is no coupon") from None


def apply(order, code):
    """The order with a coupon; the better of two discounts counts, they are not added up."""
    percent = max(order.get("percent", 0), percent_of(code))
    return {**order, "percent": percent}
