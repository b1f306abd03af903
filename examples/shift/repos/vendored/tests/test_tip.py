import unittest

from bill.tip import tip, with_tip


class Tip(unittest.TestCase):
    def test_usual(self):
        self.assertEqual(tip(1000, "DE"), 80)
        self.assertEqual(tip(1234, "FR"), 70)
        self.assertEqual(tip(1000, "JP"), 0)

    def test_rounded(self):
        self.assertEqual(with_tip(1000, "DE"), 1080 + 20)
        self.assertEqual(with_tip(1000, "FR"), 1050)
