"""One order on paper."""
from tally.money import shares, show
from tally.orders import discount, net, subtotal, total
from tally.rates import office_for
from tally.tax import taxed

WIDTH = 40


def row(words, amount):
    """Words on the left, an amount on the right."""
    return f"{words:<{WIDTH - 10}}{show(amount):>10}"


def invoice(order):
    """The text of an invoice."""
    country = order.get("country", "DE")
    goods = subtotal(order["lines"])
    off = goods - discount(goods, order.get("percent", 0))
    out = [f"Invoice {order['id']}", "=" * WIDTH]
    out.append(row(f"{len(order['lines'])} lines", goods))
    if off:
        out.append(row(f"less {order['percent']} %", off))
    if taxed(country):
        out.append(row(f"tax {country}", total(order) - net(order)))
    out.append("-" * WIDTH)
    out.append(row("to pay", total(order)))
    out.append(f"filed in {office_for(country)}")
    return "\n".join(out)


def instalments(order, months):
    """What is due each month, in texts."""
    return [show(part) for part in shares(total(order), months)]
