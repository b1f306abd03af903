"""Amounts of money: cents inside, texts outside."""


def cents(text):
    """Cents of a text such as "12.34", "12" or "0.5"."""
    whole, _, part = str(text).partition(".")
    if not whole.isdigit() or (part and not part.isdigit()) or len(part) > 2:
        raise ValueError(f"{text!r} is no amount")
    return int(whole) * 100 + int((part + "00")[:2])


def show(amount):
    """Text of an amount in cents."""
    return f"{amount // 100}.{amount % 100:02d}"
