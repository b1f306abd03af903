#!/usr/bin/env bash
# stress-ng in the box: forks, threads, signals, files, locks. Proctor's memory stays bounded, the run ends by itself,
# nothing is left. 24 seconds here, ten minutes in the full lane (tests/full/stress.sh).
# seconds: 900
exec /usr/bin/python3 "$(dirname "$0")/lib/stress.py" "${STRESS_SECONDS:-24}"
