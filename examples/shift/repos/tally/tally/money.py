"""Amounts of money: cents inside, texts outside."""


def cents(text):
    """Cents of a text such as "12.34", "12" or "0.5"."""
    whole, _, part = str(text).partition(".")
    if not whole.isdigit() or (part and not part.isdigit()) or len(part) > 2:
        raise ValueError(f"{text!r} is no amount")
    return int(whole) * 100 + int((part + "00")[:2])


def shares(amount, parts):
    """An amount cut into so many parts that differ by a cent at most, the larger ones first."""
    if parts < 1:
        raise ValueError("an amount has at least one part")
    base, rest = divmod(amount, parts)
    return [base + (i < rest) for i in range(parts)]


def show(amount):
    """Text of an amount in cents."""
    return f"{amount // 100}.{amount % 100:02d}"
