"""What a country takes of an amount."""
from tally.rates import RATES


def rate_for(country):
    """Rate of a country; what we do not sell to has none."""
    return RATES.get(country, 0)


def tax_on(amount, country):
    """Tax on an amount in cents, rounded down."""
    return amount * rate_for(country) // 100


def taxed(country):
    """Is anything taken there?"""
    return rate_for(country) > 0
