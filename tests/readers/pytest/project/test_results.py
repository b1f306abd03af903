"""Every kind of result."""
import unittest
import warnings

import pytest


@pytest.fixture
def bad_setup():
    raise RuntimeError("setup - goes wrong")


@pytest.fixture
def bad_teardown():
    yield 1
    raise RuntimeError("teardown - goes wrong")


def test_pass():
    pass


def test_fail():
    assert 1 == 2


def test_long_message():
    assert 0, "a message - that is longer than any line of a terminal of eighty columns - and goes on"


def test_setup_error(bad_setup):
    pass


def test_teardown_error(bad_teardown):
    pass


def test_fail_and_teardown_error(bad_teardown):
    assert 0


@pytest.mark.skip(reason="no - no PASSED (really)")
def test_skip():
    pass


@pytest.mark.parametrize("i", [1, 2])
def test_skip_inside(i):
    pytest.skip("inside")


@pytest.mark.xfail(reason="bug - 1")
def test_xfail():
    assert 0


@pytest.mark.xfail(reason="bug - 2")
def test_xpass():
    pass


@pytest.mark.xfail(strict=True, reason="bug - 3")
def test_xpass_strict():
    pass


@pytest.mark.xfail(strict=True)
def test_xpass_strict_bare():
    pass


def test_warns():
    warnings.warn("a warning")


class TestClass:
    def test_method(self):
        pass

    class TestInner:
        def test_deep(self):
            assert 0


class TestUnit(unittest.TestCase):
    @unittest.expectedFailure
    def test_expected(self):
        assert 0

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    @unittest.skip("why")
    def test_skipped(self):
        pass
