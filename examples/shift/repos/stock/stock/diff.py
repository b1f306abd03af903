"""What two copies of the stock differ in."""


def diff(before, after):
    """Lines such as "bolt 3 -> 5", by name; what is new or gone says so."""
    lines = []
    for name in sorted(set(before) | set(after)):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        lines.append(f"{name} {'new' if old is None else old} -> {'gone' if new is None else new}")
    return lines


def moved(before, after):
    """Pieces that came in, and pieces that went out."""
    came = went = 0
    for name in set(before) | set(after):
        by = after.get(name, 0) - before.get(name, 0)
        came, went = came + max(by, 0), went + max(-by, 0)
    return came, went
