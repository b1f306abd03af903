"""What we keep of an item."""


def keep(items):
    """Name to pieces, items without any left out."""
    return {item["name"]: item["count"] for item in items}
