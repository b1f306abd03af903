import unittest

from bill.split import split


class Split(unittest.TestCase):
    def test_even(self):
        self.assertEqual(split(100, 4), [25, 25, 25, 25])

    def test_rest(self):
        self.assertEqual(split(10, 3), [4, 3, 3])
