#!/usr/bin/env bash
# The network of a box: what its policy allows can be reached by every kind of program without
# settings, everything else cannot, and no other packet leaves. The world is a net namespace.
# seconds: 600
exec /usr/bin/python3 "$(dirname "$0")/lib/network.py"
