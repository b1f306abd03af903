"""Places in sorted words."""


def place(words, word, count=None):
    """Where the word stands, or would stand: the first place of that kind."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        if count:
            count()
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low


def has(words, word, count=None):
    """Is the word there?"""
    at = place(words, word, count)
    return at < len(words) and words[at] == word


def between(words, first, last):
    """Words from first up to last, without last itself."""
    return words[place(words, first):place(words, last)]
