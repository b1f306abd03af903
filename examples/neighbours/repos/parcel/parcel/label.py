"""Text of a label."""
import textwrap

WIDTH = 24


def label(parcel, name):
    """Lines to be printed: the receiver's name, the country, the parcel's id."""
    lines = textwrap.wrap(name, WIDTH) or [""]
    lines.append(parcel["country"].upper())
    lines.append(f"#{parcel['id']}")
    return "\n".join(lines) + "\n"
