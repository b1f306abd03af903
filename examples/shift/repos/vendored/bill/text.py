"""Amounts and lines as texts."""


def show(cents):
    """Text of an amount, with its sign."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02d}"


def cents(text):
    """Cents of "12", "12.3" or "12.34"."""
    whole, _, part = text.partition(".")
    if not whole.isdigit() or len(part) > 2 or (part and not part.isdigit()):
        raise ValueError(f"{text!r} is no amount")
    return int(whole) * 100 + int((part + "00")[:2])


def read(text):
    """(name, cents, words) of lines "NAME AMOUNT WORDS"; empty ones and those with # are left out."""
    out = []
    for no, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) < 2:
            raise ValueError(f"line {no}: NAME AMOUNT WORDS are expected")
        try:
            out.append((parts[0], cents(parts[1]), parts[2] if len(parts) > 2 else ""))
        except ValueError as why:
            raise ValueError(f"line {no}: {why}") from None
    return out
