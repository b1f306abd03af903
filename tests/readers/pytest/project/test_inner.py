"""A test of a plug-in runs pytest itself; what that prints is captured."""
import pathlib
import subprocess
import sys

TEXT = "def test_in(): assert 0\ndef test_in_passes(): pass\n"


def run(where, *options):
    (pathlib.Path(where) / "test_in.py").write_text(TEXT)
    subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, "test_in.py"],
                   cwd=where, check=False)


def test_inner_passes(tmp_path):
    run(tmp_path)


def test_inner_fails(tmp_path):
    run(tmp_path, "-v")
    assert 0


def test_inner_quiet(tmp_path):
    run(tmp_path, "-q")
