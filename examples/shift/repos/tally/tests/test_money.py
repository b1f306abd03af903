import unittest

from tally.money import cents, shares, show


class Money(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents("12.34"), 1234)
        self.assertEqual(cents("12"), 1200)
        self.assertEqual(cents("0.5"), 50)

    def test_no_amount(self):
        for text in ("", "x", "1.234", "-1"):
            with self.assertRaises(ValueError):
                cents(text)

    def test_show(self):
        self.assertEqual(show(1205), "12.05")

    def test_shares(self):
        self.assertEqual(shares(100, 3), [34, 33, 33])
        with self.assertRaises(ValueError):
            shares(100, 0)
