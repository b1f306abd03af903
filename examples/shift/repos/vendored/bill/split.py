"""Split a bill."""
from vendor.halves import shares


def split(amount, people):
    """What each pays, in cents."""
    return shares(amount, people)
