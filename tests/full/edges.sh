#!/usr/bin/env bash
# tests/run/edges.sh for the clients that ./check leaves out, as root and as an ordinary user.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
with_clients edges.sh 1800 claude gemini continue
tap_done
