import unittest

from tally.csvin import read
from tally.orders import total

TABLE = """order,country,price,qty,coupon
a-1,XX,2.50,1,
a-1,XX,10.00,1,SPRING10
b-2,DE,1.00,,
"""


class Csv(unittest.TestCase):
    def test_orders(self):
        orders = read(TABLE)
        self.assertEqual([order["id"] for order in orders], ["a-1", "b-2"])
        self.assertEqual(total(orders[0]), 1125)
        self.assertEqual(orders[1]["lines"], [{"price": "1.00", "qty": 1}])

    def test_other_columns(self):
        with self.assertRaises(ValueError):
            read("order,price\na,1.00\n")

    def test_two_countries(self):
        with self.assertRaises(ValueError):
            read("order,country,price,qty,coupon\na,DE,1.00,1,\na,FR,1.00,1,\n")
