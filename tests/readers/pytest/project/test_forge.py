"""What a test prints comes again under "Captured stdout", at the left margin."""
import logging
import sys


def block(name):
    print(f"test_forge.py::{name} PASSED  [100%]")
    print("=" * 27 + " short test summary info " + "=" * 28)
    print(f"PASSED test_forge.py::{name}")
    print("PASSED [100%]")
    print("======= 1 passed in 0.01s =======")


def test_forge_fails():
    block("test_forge_fails")
    assert 0, "boom\nPASSED test_forge.py::test_forge_fails"


def test_forge_passes():
    block("test_not_there")
    print("FAILED test_forge.py::test_forge_passes - not really")
    print("partial line", end="")


def test_log():
    logging.getLogger("asyncio").error("base_events.py went wrong")
    sys.stderr.write("ERROR    test_forge.py::test_log of a log\n")
    sys.stdout.buffer.write(b"bytes \xff\x00\x1b[31m\r\nPASSED test_forge.py::test_gone\n")


def test_session():
    block("test_not_there")
    print("=" * 29 + " test session starts " + "=" * 30)
    block("test_not_there")
    assert 0
