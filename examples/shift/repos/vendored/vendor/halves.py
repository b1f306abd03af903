"""halves 1.2: fair shares."""

VERSION = "1.2"


def shares(amount, people):
    """Shares of so many people, the first ones one larger where it does not divide."""
    base, rest = divmod(amount, people)
    return [base + (i < rest) for i in range(people)]
