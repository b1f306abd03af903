import unittest

from bill.purse import Purse


class PurseTest(unittest.TestCase):
    def test_balance(self):
        purse = Purse(["ann", "ben", "cai"])
        purse.pay("ann", 100)
        purse.pay("ben", 30, among=["ben", "cai"])
        self.assertEqual(purse.balance(), {"ann": 66, "ben": -18, "cai": -48})
        self.assertEqual(sum(purse.balance().values()), 0)

    def test_strangers(self):
        with self.assertRaises(KeyError):
            Purse(["ann"]).pay("ben", 100)

    def test_names(self):
        for names in ([], ["ann", "ann"]):
            with self.assertRaises(ValueError):
                Purse(names)
