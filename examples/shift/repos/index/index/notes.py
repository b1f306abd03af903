"""The notes: text files of which the first line is the title."""
import pathlib


class Note:
    def __init__(self, name, text):
        self.name = name
        self.text = text

    @property
    def title(self):
        """The first line; the name when it is empty."""
        lines = self.text.splitlines()
        return lines[0].strip() if lines and lines[0].strip() else self.name

    def __repr__(self):
        return f"Note({self.name!r})"


def load(directory):
    """Notes of a directory by their names."""
    return [Note(path.name, path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(directory).glob("*.txt"))]
