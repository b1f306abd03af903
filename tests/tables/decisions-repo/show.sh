#!/bin/sh
# Prints the file it is given.
cat "$1"
