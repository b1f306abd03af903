"""Every kind of result and of name that unittest has."""
import sys
import unittest


class Forms(unittest.TestCase):
    def test_pass(self): pass
    def test_fail(self): self.fail("boom")
    def test_error(self): raise RuntimeError("went wrong")
    @unittest.skip("why (really)")
    def test_skip(self): pass
    def test_skip_inside(self): self.skipTest("don't")
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")
    @unittest.expectedFailure
    def test_unexpected(self): pass

    def test_doc(self):
        """A docstring (with brackets) ... and dots.

        And more."""

    def test_doc_fails(self):
        """The same words."""
        self.fail("boom")

    def test_doc_same(self):
        """The same words."""

    def test_doc_ok(self):
        """ends like ... ok"""
        self.fail("boom")

    def test_prints(self): sys.stderr.write("a line\n")
    def test_partial(self): sys.stderr.write("partial")
    def test_partial_fails(self):
        sys.stderr.write("partial")
        self.fail("boom")


class Fixtures(unittest.TestCase):
    def setUp(self):
        if self._testMethodName == "test_setup":
            raise RuntimeError("setup")
    def tearDown(self):
        if self._testMethodName == "test_teardown":
            raise RuntimeError("teardown")
    def test_setup(self): pass
    def test_teardown(self): pass


class ClassFails(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("class")
    def test_never(self): pass


class Subtests(unittest.TestCase):
    def test_some_fail(self):
        for i in range(3):
            with self.subTest("msg [x] ... ok", i=i):
                self.assertNotEqual(i, 1)
    def test_some_skip(self):
        for i in range(3):
            with self.subTest(i=i):
                if i == 1:
                    self.skipTest("one")
    def test_fine(self):
        for i in range(3):
            with self.subTest(i=i):
                pass


def add(name):
    def test(self): pass
    test.__name__ = name
    setattr(Odd, name, test)


class Odd(unittest.TestCase):
    pass


for odd in ["test_\xe9\u2603", "test_[x]", 'test_"q"']:
    add(odd)

if __name__ == "__main__":
    unittest.main(verbosity=2)
