"""A day's orders in words."""
from tally.money import show
from tally.orders import net, total


def summary(orders):
    """One line for each order and the sum."""
    lines = [f"{order['id']}: {show(total(order))}" for order in orders]
    lines.append(f"sum: {show(sum(total(order) for order in orders))}")
    return "\n".join(lines)


def by_country(orders):
    """Net and total of each country, by its name."""
    sums = {}
    for order in orders:
        at = sums.setdefault(order.get("country", "DE"), [0, 0])
        at[0] += net(order)
        at[1] += total(order)
    return "\n".join(f"{name}: {show(a)} net, {show(b)} in all" for name, (a, b) in sorted(sums.items()))


def largest(orders, most=3):
    """Ids of the largest orders, the largest first; equal ones by their id."""
    return [order["id"] for order in sorted(orders, key=lambda o: (-total(o), o["id"]))[:most]]
