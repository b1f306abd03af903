import pathlib
import sys

path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace("high", "top"))
