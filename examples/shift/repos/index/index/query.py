"""A search: words that must be there, "-word" that must not, "beg*" for beginnings."""


def parse(text):
    """What must be there, and what must not."""
    must, must_not = [], []
    for part in text.lower().split():
        (must_not if part.startswith("-") else must).append(part.lstrip("-"))
    if not must:
        raise ValueError("name at least one word that must be there")
    return must, must_not


def names_of(index, pattern):
    """Names for one word or beginning."""
    if not pattern.endswith("*"):
        return set(index.get(pattern, []))
    return {name for word, names in index.items() if word.startswith(pattern[:-1]) for name in names}


def find(index, text):
    """Names of the notes that a search finds."""
    must, must_not = parse(text)
    found = names_of(index, must[0])
    for pattern in must[1:]:
        found &= names_of(index, pattern)
    for pattern in must_not:
        found -= names_of(index, pattern)
    return sorted(found)
