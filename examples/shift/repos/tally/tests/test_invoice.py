import unittest

from tally.invoice import instalments, invoice


class Invoice(unittest.TestCase):
    def test_text(self):
        order = {"id": "a-1", "country": "XX", "percent": 10, "lines": [{"price": "10.00", "qty": 1}]}
        text = invoice(order).splitlines()
        self.assertEqual(text[0], "Invoice a-1")
        self.assertEqual(text[2].split(), ["1", "lines", "10.00"])
        self.assertEqual(text[3].split(), ["less", "10", "%", "1.00"])
        self.assertEqual(text[5].split(), ["to", "pay", "9.00"])
        self.assertEqual(text[6], "filed in Bremen")

    def test_instalments(self):
        order = {"id": "a", "country": "XX", "lines": [{"price": "10.00", "qty": 1}]}
        self.assertEqual(instalments(order, 3), ["3.34", "3.33", "3.33"])
