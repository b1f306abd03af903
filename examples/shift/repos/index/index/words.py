"""Words of a text."""
import re

# They stand everywhere and find nothing.
STOP = {"a", "an", "and", "of", "or", "to"}


def words(text):
    """Words, lower case, each once."""
    return sorted(set(re.findall(r"[a-z]+", text)))


def telling(text):
    """Words that tell something."""
    return [word for word in words(text) if word not in STOP]


def snippet(text, word, around=20):
    """The first place of a word with what stands around it; "" when there is none."""
    found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    if not found:
        return ""
    first = max(0, found.start() - around)
    last = min(len(text), found.end() + around)
    return ("..." if first else "") + " ".join(text[first:last].split()) + ("..." if last < len(text) else "")
