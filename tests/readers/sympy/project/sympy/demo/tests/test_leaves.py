import os


def test_a(): pass
def test_leaves(): os._exit(0)
def test_c(): pass
