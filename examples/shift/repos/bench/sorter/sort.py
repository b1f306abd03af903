"""Sort words."""


def sort(words, count=None):
    """The words in order, each as often as it came; count is told of every comparison."""
    out = []
    for word in words:
        at = len(out)
        while at and (count is None or count() or True) and out[at - 1] > word:
            at -= 1
        if word not in out:
            out.insert(at, word)
    return out
