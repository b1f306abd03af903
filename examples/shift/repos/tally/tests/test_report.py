import unittest

from tally.report import summary


class Report(unittest.TestCase):
    def test_summary(self):
        orders = [{"id": "a", "lines": [{"price": "1.00", "qty": 1}], "country": "XX"}]
        self.assertEqual(summary(orders), "a: 1.00\nsum: 1.00")
