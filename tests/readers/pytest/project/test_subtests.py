"""Subtests: of unittest, and of the fixture."""
import unittest


class TestSub(unittest.TestCase):
    def test_loop(self):
        for i in range(3):
            with self.subTest("a message", i=i):
                assert i != 1

    def test_fine(self):
        for i in range(2):
            with self.subTest(i=i):
                pass


def test_fixture(subtests):
    for i in range(3):
        with subtests.test(msg="m [x] - y", i=i):
            assert i != 2


def test_fixture_fine(subtests):
    with subtests.test(msg="fine"):
        pass


def test_last():
    pass
