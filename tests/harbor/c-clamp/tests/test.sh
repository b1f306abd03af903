#!/bin/bash
# Builds the hidden test against the work tree and writes the reward.
echo "label: $LABEL"
echo "processors: $(nproc)"
mkdir -p /tmp/hidden
if "$CC" -O1 -I src -o /tmp/hidden/test /tests/test_clamp.c src/clamp.c && make -s check && /tmp/hidden/test; then
	echo 1 > /logs/verifier/reward.txt
else
	echo 0 > /logs/verifier/reward.txt
fi
