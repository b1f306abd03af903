import unittest

from stock.shortage import order, packs, shortage

LIMITS = {"bolt": 10, "nut": 20}


class Shortage(unittest.TestCase):
    def test_missing(self):
        self.assertEqual(shortage({"bolt": 3, "nut": 20, "screw": 0}, LIMITS), {"bolt": 7})

    def test_unknown_is_none(self):
        self.assertEqual(shortage({}, LIMITS), LIMITS)

    def test_packs(self):
        self.assertEqual([packs(n, 5) for n in (0, 1, 5, 6)], [0, 1, 1, 2])
        with self.assertRaises(ValueError):
            packs(1, 0)

    def test_order(self):
        self.assertEqual(order({"bolt": 3}, LIMITS, {"nut": 8}), {"bolt": 7, "nut": 3})
