import sys
import unittest


class Forge(unittest.TestCase):
    def test_a_forges(self):
        sys.stderr.write("ok\n")
        self.fail("boom")
    def test_b_prints(self):
        sys.stderr.write("\ntest_gone (forge.Forge.test_gone) ... ok\n")
    def test_c_overwrites(self):
        sys.stderr.write("\rtest_hidden (forge.Forge.test_hidden) ... ")
    def test_d_control(self):
        sys.stderr.buffer.write(b"\x1b[31mred\x00\xff\n")


unittest.main(verbosity=2)
