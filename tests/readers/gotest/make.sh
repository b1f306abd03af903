#!/usr/bin/env bash
# usage: make.sh OUTDIR. With READERS_GO=DIR the Go below DIR (which holds lib/go-X, as a Debian
# package does below usr) is used instead of the installed one.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
go=go
if [ -n "${READERS_GO:-}" ]; then
	readers_bind "$READERS_GO" gosys
	for go in "$READERS_GO"/lib/go-*/bin/go; do :; done
	go=/gosys/${go#"$READERS_GO/"}
else
	readers_need go
fi
cache=$(mktemp -d /tmp/readers-go-XXXXXX) || exit 1
trap 'rm -rf "$cache"' EXIT
readers_bind "$cache" gocache
run="GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=/gocache $go test -p 1 -timeout 60s"

readers_log all "$run -v ./all"
readers_log json_all "$run -json ./all"
readers_log packages "$run -v ./... -timeout 2s"
readers_log json_packages "$run -json ./... -timeout 2s"
readers_log crash "$run -v ./crash"
readers_log json_crash "$run -json ./crash"
readers_log hang "$run -timeout 1s -v ./hang"
readers_log json_hang "$run -timeout 1s -json ./hang"
readers_log exit0 "$run -v ./exit0"
readers_log json_exit0 "$run -json ./exit0"
readers_log goexit "$run -v ./goexit"
readers_log json_goexit "$run -json ./goexit"
readers_log killed "$run -v ./killed"
readers_log json_killed "$run -json ./killed"
readers_log nobuild "$run -v ./nobuild ./none"
readers_log json_nobuild "$run -json ./nobuild ./none"
readers_log missing "$run -v ./missing ./goexit"
readers_log json_missing "$run -json ./missing ./goexit"
readers_log quiet "$run ./all"
readers_log count "$run -v -count=2 -run 'TestPass|TestSkip' ./all"
readers_log cut "$run -v ./all | head -c 900"
readers_log nothing "$run -v -run Nobody ./all"
readers_log json_nothing "$run -json -run Nobody ./all"
readers_log cover "$run -v -cover -run 'TestPass|TestNames/with' ./all ./none"
