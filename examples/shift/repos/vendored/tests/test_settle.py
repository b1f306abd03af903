import unittest

from bill.settle import settle


class Settle(unittest.TestCase):
    def test_one_debt(self):
        self.assertEqual(settle({"ann": 50, "ben": -50}), [("ben", "ann", 50)])

    def test_largest_first(self):
        paid = settle({"ann": 66, "ben": -18, "cai": -48})
        self.assertEqual(paid, [("cai", "ann", 48), ("ben", "ann", 18)])

    def test_even(self):
        self.assertEqual(settle({"ann": 0, "ben": 0}), [])

    def test_no_balance(self):
        with self.assertRaises(ValueError):
            settle({"ann": 1})
