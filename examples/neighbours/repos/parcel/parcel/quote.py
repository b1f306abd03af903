"""Price of one parcel."""
from parcel.tariff import price
from parcel.weights import billable
from parcel.zones import zone


def quote(parcel):
    """Cents that the carrier will ask for a parcel."""
    grams = billable(parcel["grams"], parcel["size"])
    return price(zone(parcel["country"]), grams)
