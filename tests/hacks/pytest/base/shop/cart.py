"""A shopping cart."""


def total(prices):
    return sum(prices)


def discount(price, percent):
    """Price less a discount of at most 100 %."""
    return price - price * percent // 100
