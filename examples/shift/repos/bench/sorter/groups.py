"""Words by their beginnings."""
from sorter.search import between


def group(words, first):
    """Sorted words that begin so."""
    return between(words, first, first + "\uffff")


def beginnings(words, letters=1):
    """Beginnings with the number of their words; shorter words are beginnings of themselves."""
    out = {}
    for word in words:
        out[word[:letters]] = out.get(word[:letters], 0) + 1
    return out
