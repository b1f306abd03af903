"""Zones of the carrier."""

HOME = "DE"
NEAR = {"AT", "BE", "CZ", "DK", "FR", "LU", "NL", "PL"}


def zone(country):
    """1 at home, 2 for the neighbours, 3 for all others."""
    code = country.strip().upper()
    if len(code) != 2 or not code.isalpha():
        raise ValueError(f"{country!r} is no country code")
    if code == HOME:
        return 1
    return 2 if code in NEAR else 3
