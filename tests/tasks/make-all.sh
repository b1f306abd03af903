#!/bin/bash
# make-all.sh OUTDIR [ID...]: make every task of the list (or those named) as OUTDIR/ID.
set -eu
[ $# -ge 1 ] || { echo "usage: make-all.sh OUTDIR [ID...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
[ $# -gt 0 ] || mapfile -t ids < <(cut -d' ' -f1 "$here/list")
[ $# -eq 0 ] || ids=("$@")
bad=0
for id in "${ids[@]}"; do
	"$here/$id/make.sh" "$out/$id" || { echo "make-all.sh: $id was not made" >&2; bad=1; }
done
exit $bad
