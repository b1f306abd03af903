"""Check that what is in vendor/ is what deps.lock says."""
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import vendor.halves

name, version, digest = pathlib.Path("deps.lock").read_text().split()
now = hashlib.sha256(pathlib.Path("vendor/halves.py").read_bytes()).hexdigest()
if (version, digest) != (vendor.halves.VERSION, now):
    sys.exit(f"{name}: pinned {version} {digest[:12]}, there is {vendor.halves.VERSION} {now[:12]}")
print(name, version, "as pinned")
