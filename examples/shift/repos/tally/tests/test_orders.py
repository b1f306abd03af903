import unittest

from tally.orders import discount, total


def order(**more):
    return {"id": "a", "lines": [{"price": "10.00", "qty": 1}], "country": "XX", **more}


class Orders(unittest.TestCase):
    def test_one_line(self):
        self.assertEqual(total(order()), 1000)

    def test_tax(self):
        self.assertEqual(total(order(country="DE")), 1190)

    def test_discount(self):
        self.assertEqual(discount(999, 10), 900)
        with self.assertRaises(ValueError):
            discount(100, 101)
