"""One sorted list of several."""


def merge(a, b, count=None):
    """Words of two sorted lists in order; of equal ones those of the first list come first."""
    out, i, k = [], 0, 0
    while i < len(a) and k < len(b):
        if count:
            count()
        if b[k] < a[i]:
            out.append(b[k])
            k += 1
        else:
            out.append(a[i])
            i += 1
    return out + a[i:] + b[k:]


def merge_all(lists, count=None):
    """Neighbours are merged until one list is left."""
    lists = list(lists)
    while len(lists) > 1:
        pairs = [lists[i:i + 2] for i in range(0, len(lists), 2)]
        lists = [merge(*pair, count) if len(pair) == 2 else pair[0] for pair in pairs]
    return lists[0] if lists else []
