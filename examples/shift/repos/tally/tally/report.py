"""A day's orders in words."""
from tally.money import show
from tally.orders import total


def summary(orders):
    """One line for each order and the sum."""
    lines = [f"{order['id']}: {show(total(order))}" for order in orders]
    lines.append(f"sum: {show(sum(total(order) for order in orders))}")
    return "\n".join(lines)
