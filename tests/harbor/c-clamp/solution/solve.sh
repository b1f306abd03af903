#!/bin/bash
set -e
sed -i '/v > hi/{n;s/lo/hi/}' src/clamp.c
make -s check
