import pytest


@pytest.fixture
def prices():
    return [1, 2, 3]
