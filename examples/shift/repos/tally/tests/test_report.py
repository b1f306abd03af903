import unittest

from tally.report import by_country, largest, summary

ORDERS = [
    {"id": "a", "lines": [{"price": "1.00", "qty": 1}], "country": "XX"},
    {"id": "b", "lines": [{"price": "3.00", "qty": 1}], "country": "XX"},
    {"id": "c", "lines": [{"price": "2.00", "qty": 1}], "country": "YY"},
]


class Report(unittest.TestCase):
    def test_summary(self):
        self.assertEqual(summary(ORDERS[:1]), "a: 1.00\nsum: 1.00")

    def test_by_country(self):
        self.assertEqual(by_country(ORDERS), "XX: 4.00 net, 4.00 in all\nYY: 2.00 net, 2.00 in all")

    def test_largest(self):
        self.assertEqual(largest(ORDERS, 2), ["b", "c"])
