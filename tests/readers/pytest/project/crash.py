import os
import signal


def test_before():
    pass


def test_crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def test_after():
    pass
