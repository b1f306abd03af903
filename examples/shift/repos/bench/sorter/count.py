"""Comparisons, counted."""


class Count:
    """Call it for each comparison; it returns nothing."""

    def __init__(self):
        self.n = 0

    def __call__(self):
        self.n += 1

    def __enter__(self):
        self.before = self.n
        return self

    def __exit__(self, *why):
        self.last = self.n - self.before
