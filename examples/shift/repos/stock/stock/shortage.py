"""What has to be ordered."""


def shortage(stock, limits):
    """Name to pieces that are missing up to the limit; what we have no limit for is never short."""
    return {name: least - stock.get(name, 0) for name, least in limits.items() if stock.get(name, 0) < least}


def packs(missing, size):
    """Packs of so many pieces that cover it."""
    if size < 1:
        raise ValueError("a pack holds at least one piece")
    return -(-missing // size)


def order(stock, limits, sizes):
    """Name to packs to order; what comes in no packs is ordered by the piece."""
    return {name: packs(missing, sizes.get(name, 1)) for name, missing in shortage(stock, limits).items()}
