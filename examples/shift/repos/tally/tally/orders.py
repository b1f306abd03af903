"""What an order comes to."""
from tally.money import cents
from tally.tax import tax_on


def subtotal(lines):
    """Sum of the lines of an order, in cents."""
    return sum(cents(line["price"]) for line in lines)


def discount(amount, percent):
    """Amount less percent, in the customer's favour."""
    if not 0 <= percent <= 100:
        raise ValueError("percent must be from 0 to 100")
    return amount - amount * percent // 100


def net(order):
    """What the goods cost, less the discount, in cents."""
    return discount(subtotal(order["lines"]), order.get("percent", 0))


def total(order):
    """What the customer pays, in cents."""
    amount = net(order)
    return amount + tax_on(amount, order.get("country", "DE"))
