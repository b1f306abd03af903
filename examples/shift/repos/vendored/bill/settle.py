"""The payments that make a balance even."""


def settle(balance):
    """(from, to, cents), the largest debts first. At most one payment less than there are people."""
    if sum(balance.values()) != 0:
        raise ValueError("a balance is 0 in all")
    owe = sorted((amount, name) for name, amount in balance.items() if amount < 0)
    get = sorted(((-amount, name) for name, amount in balance.items() if amount > 0))
    out = []
    while owe:
        debt, debtor = owe[0]
        credit, creditor = get[0]
        amount = min(-debt, -credit)
        out.append((debtor, creditor, amount))
        owe = replaced(owe, debt + amount, debtor)
        get = replaced(get, credit + amount, creditor)
    return out


def replaced(people, amount, name):
    """The list with another amount for its first; nobody with 0 stays."""
    rest = people[1:]
    return sorted(rest + [(amount, name)]) if amount else rest
