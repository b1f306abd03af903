e#!/bin/bash
set -uxo pipefail
source x
git checkout 1 tests/t_add.py
git apply -v - <<'EOF_1'
diff
EOF_1
: '>>>>> Start Test Output'
pytest -rA tests/t_add.py
: '>>>>> End Test Output'
git checkout 1 tests/t_add.py
