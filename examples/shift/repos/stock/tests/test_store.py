import pathlib
import tempfile
import unittest

from stock.store import load, save


class Store(unittest.TestCase):
    def test_there_and_back(self):
        with tempfile.TemporaryDirectory() as where:
            path = pathlib.Path(where) / "out" / "stock.json"
            self.assertEqual(load(path), {})
            save({"nut": 2, "bolt": 1}, path)
            self.assertEqual(path.read_text(), '{\n "bolt": 1,\n "nut": 2\n}\n')
            self.assertEqual(load(path), {"bolt": 1, "nut": 2})

    def test_something_else(self):
        with tempfile.TemporaryDirectory() as where:
            path = pathlib.Path(where) / "stock.json"
            path.write_text("[]")
            with self.assertRaises(ValueError):
                load(path)
