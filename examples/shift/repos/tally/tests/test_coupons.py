import unittest

from tally.coupons import apply, percent_of


class Coupons(unittest.TestCase):
    def test_codes(self):
        self.assertEqual(percent_of(" spring10 "), 10)
        with self.assertRaises(ValueError):
            percent_of("SUMMER")

    def test_better_one(self):
        order = {"id": "a", "lines": [], "percent": 20}
        self.assertEqual(apply(order, "HELLO5")["percent"], 20)
        self.assertEqual(apply(order, "STAFF30")["percent"], 30)
        self.assertEqual(order["percent"], 20)
