"""Names with blanks: generated tests have them."""
import unittest


class Blanks(unittest.TestCase):
    pass


def passes(self): pass
def fails(self): self.fail("boom")


setattr(Blanks, "test_ a b", passes)
setattr(Blanks, "test_ c (d)", passes)
setattr(Blanks, "test_ fails here", fails)
setattr(Blanks, "test_two\nlines", passes)
unittest.main(verbosity=2)
