"""Reads amounts such as "3.50"."""


def amount(text):
    # The region of the Python rows: lines 4 to 12.
    text = text.strip()
    if not text:
        raise ValueError("empty")
    whole, _, part = text.partition(".")
    value = int(whole) * 100
    value += int(part.ljust(2, "0")) if part else 0
    return value


def show(value):
    return f"{value // 100}.{value % 100:02d}"
