import unittest

from shop.cart import discount, total


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_discount(self):
        self.assertEqual(discount(200, 10), 180)


if __name__ == "__main__":
    unittest.main()
