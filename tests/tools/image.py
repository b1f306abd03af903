#!/usr/bin/env python3
"""Container images for the tests, without a registry.

  image.py base DIR         a small root file system: busybox and its links
  image.py compiler DIR     what gcc, make and their libraries are made of, from this machine
  image.py hostile DIR      OCI layouts DIR/NAME that no proctor may unpack, and DIR/NAME.why
  image.py odd DIR          the OCI layout DIR/odd with what is unusual and allowed
"""

import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def put(root, path, text="", mode=0o644):
    full = root + path
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(full, mode)


def base(root):
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "tmp", "var/tmp", "home", "root",
                 "proc", "sys", "dev", "run", "opt", "logs"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, os.path.join(root, name))
    os.chmod(root + "/tmp", 0o1777)
    shutil.copy("/usr/bin/busybox", root + "/usr/bin/busybox")
    names = subprocess.run(["/usr/bin/busybox", "--list"], check=True, capture_output=True, text=True)
    for name in names.stdout.split():
        if name != "busybox":
            os.symlink("busybox", root + "/usr/bin/" + name)
    put(root, "/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home:/bin/sh\n")
    put(root, "/etc/group", "root:x:0:\nagent:x:1000:\n")
    put(root, "/etc/image", "the base image\n")


def packages_of(*programs):
    """Files of the packages that hold the programs, and of those without which no compiler works."""
    version = subprocess.run(["gcc", "-dumpversion"], check=True, capture_output=True, text=True).stdout.strip()
    triplet = subprocess.run(["gcc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
    names = [f"gcc-{version}", f"libgcc-{version}-dev", "libc6-dev", "linux-libc-dev",
             "binutils-" + triplet.replace("_", "-"), "binutils", "gcc"]
    for name in names:
        got = subprocess.run(["dpkg", "-L", name], check=False, capture_output=True, text=True)
        yield from got.stdout.splitlines()
    for program in ("cc1", "as", "ld"):
        got = subprocess.run(["gcc", "-print-prog-name=" + program], check=True, capture_output=True, text=True)
        yield shutil.which(got.stdout.strip()) or got.stdout.strip()
    yield from programs


def libraries(path):
    got = subprocess.run(["ldd", path], check=False, capture_output=True, text=True)
    for word in got.stdout.split():
        if word.startswith("/"):
            yield word


def compiler(root):
    todo = list(packages_of("/usr/bin/make", "/usr/bin/cc", "/usr/bin/env"))
    seen = set()
    while todo:
        path = todo.pop()
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if path in seen or "/share/" in path or os.path.basename(path).startswith(("lto1", "lto-dump", "g++")):
            continue
        seen.add(path)
        if os.path.isdir(path) and not os.path.islink(path):
            continue
        if not os.path.lexists(path):
            continue
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy2(path, root + path, follow_symlinks=False)
        if os.path.islink(path):
            todo.append(os.path.join(os.path.dirname(path), os.readlink(path)))
        elif "/bin/" in path or "/libexec/" in path or "/lib/gcc/" in path or ".so" in path:
            todo += libraries(path)


def member(name, kind=tarfile.REGTYPE, data=b"", link="", mode=0o644, **pax):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    info.pax_headers = pax
    if kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
        info.devmajor, info.devminor = 1, 3
    return info, data


def tar(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def blob(root, data):
    digest = hashlib.sha256(data).hexdigest()
    os.makedirs(root + "/blobs/sha256", exist_ok=True)
    with open(f"{root}/blobs/sha256/{digest}", "wb") as out:
        out.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


OCI = "application/vnd.oci.image."


def layout(root, layers, config=None, diff_ids=None, pack=gzip.compress, kind="tar+gzip"):
    """An OCI layout of tar archives (bytes)."""
    config = config if config is not None else {
        "architecture": ARCH, "os": "linux", "config": {"Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers",
                   "diff_ids": diff_ids or ["sha256:" + hashlib.sha256(one).hexdigest() for one in layers]}}
    manifest = {"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json",
                "config": dict(blob(root, json.dumps(config).encode()), mediaType=OCI + "config.v1+json"),
                "layers": [dict(blob(root, pack(one)), mediaType=OCI + "layer.v1." + kind) for one in layers]}
    index = {"schemaVersion": 2, "manifests": [
        dict(blob(root, json.dumps(manifest).encode()),
             mediaType=OCI + "manifest.v1+json",
             annotations={"org.opencontainers.image.ref.name": "latest"})]}
    with open(root + "/index.json", "w", encoding="utf-8") as out:
        json.dump(index, out)
    with open(root + "/oci-layout", "w", encoding="utf-8") as out:
        out.write('{"imageLayoutVersion": "1.0.0"}')
    return manifest


def spoil(root, digest, how):
    """Change a blob behind its digest."""
    path = f"{root}/blobs/sha256/{digest.split(':')[1]}"
    with open(path, "rb") as old:
        data = how(old.read())
    with open(path, "wb") as new:
        new.write(data)


def hostile(root):
    link, hard, folder = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
    good = tar([member("a", data=b"a")])
    rows = {
        "climbs": ("leads out", [tar([member("../../climbs", data=b"x")])]),
        "climbs-inside": ("leads out", [tar([member("a/../../climbs", data=b"x")])]),
        "hard-climbs": ("leads out", [tar([member("x", hard, link="../../../etc/passwd")])]),
        "hard-absent": ("no file of the layers below", [tar([member("x", hard, link="/etc/shadow")])]),
        "hard-directory": ("hard link to a directory", [tar([member("d", folder), member("x", hard, link="d")])]),
        "loop": ("Too many levels", [tar([member("l", link, link="l"), member("l/x", data=b"x")])]),
        "nowhere": ("Too many levels", [tar([member("l", link, link="gone"), member("l/x", data=b"x")])]),
        "through-file": ("Not a directory", [tar([member("f", data=b"x"), member("f/x", data=b"x")])]),
        "whiteout-dot": ("white-out of nothing", [tar([member(".wh..")])]),
        "whiteout-up": ("white-out of nothing", [tar([member("a/.wh...")])]),
        "whiteout-way": ("no usable name", [tar([member(".wh.a/x", data=b"x")])]),
        "deep": ("no usable name", [tar([member("d/" * 250 + "x", data=b"x")])]),
        "cut": ("layer", [good[:700]]),
        "rubbish": ("layer", [b"this is no tar archive" * 100]),
    }
    for name, (why, layers) in rows.items():
        layout(f"{root}/{name}", layers)
        put(root, f"/{name}.why", why)
    # A file of 64 GiB that takes a kilobyte: the size is in the header alone.
    info, _ = member("bomb")
    info.size = 64 << 30
    layout(root + "/bomb", [info.tobuf(tarfile.GNU_FORMAT) + bytes(10240)])
    put(root, "/bomb.why", "unpacks to more than")
    manifest = layout(root + "/wrong-blob", [good])
    spoil(root + "/wrong-blob", manifest["layers"][0]["digest"], lambda old: gzip.compress(tar([member("b")])))
    put(root, "/wrong-blob.why", "has digest")
    layout(root + "/wrong-diff", [good], diff_ids=["sha256:" + "0" * 64])
    put(root, "/wrong-diff.why", "diff_id")
    manifest = layout(root + "/wrong-config", [good])
    spoil(root + "/wrong-config", manifest["config"]["digest"], lambda old: old + b" ")
    put(root, "/wrong-config.why", "has digest")
    layout(root + "/huge", [good], config={"architecture": ARCH, "os": "linux", "x": "y" * (5 << 20)})
    put(root, "/huge.why", "cannot read")
    layout(root + "/other-machine", [good], config={
        "architecture": "vax", "os": "linux", "rootfs": {"diff_ids": ["sha256:" + "0" * 64]}})
    put(root, "/other-machine.why", "image is for linux/vax")
    layout(root + "/no-layers", [good], config={"architecture": ARCH, "os": "linux"})
    put(root, "/no-layers.why", "not one digest")


def odd(root):
    link, hard, folder = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
    lower = tar([
        member("./", folder, mode=0o755), member("./etc/", folder, mode=0o755),
        member("/etc/absolute", data=b"absolute name"), member("etc/out", link, link="/etc/passwd"),
        member("etc/passwd", data=b"the image's own"), member("d/one", data=b"1"), member("d/two", data=b"2"),
        member("opaque/old", data=b"old"), member("twice", data=b"first"), member("twice", data=b"second"),
        member("suid", data=b"s", mode=0o6755), member("closed", data=b"c", mode=0),
        member("closed-dir", folder, mode=0), member("null", tarfile.CHRTYPE), member("disk", tarfile.BLKTYPE),
        member("pipe", tarfile.FIFOTYPE), member("hard", hard, link="twice"),
        member("way", link, link="/d"), member("way/three", data=b"3"), member("up", link, link="../../../d"),
        member("up/four", data=b"4"), member("becomes-dir", data=b"f"), member("becomes-file/x", data=b"x"),
        member("caps", data=b"c", **{"SCHILY.xattr.user.mark": "x"}),
        member("umlaut-\u00e4 \n\u0007", data=b"u"),
    ])
    upper = tar([
        member("d/.wh.one"), member("opaque/.wh..wh..opq"), member("opaque/new", data=b"new"),
        member(".wh..wh.aufs"), member("late", hard, link="d/two"), member("becomes-dir/x", data=b"x"),
        member("becomes-file", data=b"f"), member(".wh.gone-anyway"), member("etc/out", data=b"no link any more"),
    ])
    layout(root + "/odd", [lower, upper, tar([])])
    layout(root + "/odd-plain", [lower, upper, tar([])], pack=bytes, kind="tar")


if __name__ == "__main__":
    os.umask(0o022)
    if len(sys.argv) != 3 or sys.argv[1] not in ("base", "compiler", "hostile", "odd"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    {"base": base, "compiler": compiler, "hostile": hostile, "odd": odd}[sys.argv[1]](sys.argv[2].rstrip("/"))
