"""Words of a text."""
import re


def words(text):
    """Words, lower case, each once."""
    return sorted(set(re.findall(r"[a-z]+", text)))
