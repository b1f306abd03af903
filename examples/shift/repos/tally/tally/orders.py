"""What an order comes to."""
from tally.money import cents
from tally.tax import rate_for


def subtotal(lines):
    """Sum of the lines of an order, in cents."""
    return sum(cents(line["price"]) for line in lines)


def discount(amount, percent):
    """Amount less percent, in the customer's favour."""
    if not 0 <= percent <= 100:
        raise ValueError("percent must be from 0 to 100")
    return amount - amount * percent // 100


def total(order):
    """What the customer pays, in cents."""
    amount = discount(subtotal(order["lines"]), order.get("percent", 0))
    return amount + amount * rate_for(order.get("country", "DE")) // 100
