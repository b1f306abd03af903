"""Names of customers."""


def plain(name):
    return name.strip()
