"""A static Go binary that reads the file it is given, printing it: no libc, own threads."""
import os
import subprocess

from runlib import have

SOURCE = """package main

import "os"

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write(data)
}
"""


def build_go(place):
    if not have("go"):
        return False
    place.write("go/main.go", SOURCE)
    os.makedirs(place.path("repo/bin"), exist_ok=True)
    env = dict(os.environ, CGO_ENABLED="0", GOCACHE=place.path("gocache"), GO111MODULE="off",
               HOME=place.dir, GOFLAGS="")
    done = subprocess.run(["go", "build", "-o", place.path("repo/bin/goread"),
                           place.path("go/main.go")], env=env, capture_output=True, check=False)
    return done.returncode == 0
