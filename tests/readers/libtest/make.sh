#!/usr/bin/env bash
# usage: make.sh OUTDIR. READERS_RUST=DIR: the Rust below DIR (bin/cargo, bin/rustc, lib/...) is used
# instead of the installed one.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
if [ -n "${READERS_RUST:-}" ]; then
	rust=$READERS_RUST
else
	readers_need rustc cargo
	rust=$(rustc --print sysroot) || readers_skip "rustc does not run"
fi
[ -x "$rust/bin/cargo" ] || readers_skip "there is no cargo beside rustc"
readers_bind "$rust" rust
set_up="export RUST_TEST_THREADS=1 PATH=/rust/bin:\$PATH LD_LIBRARY_PATH=/rust/lib/x86_64-linux-gnu CARGO_TARGET_DIR=/tmp/target CARGO_NET_OFFLINE=true RUST_BACKTRACE=0"
run="$set_up; cargo test --no-fail-fast"
json="RUSTC_BOOTSTRAP=1 cargo test --no-fail-fast"

readers_log all "$run --lib --bins --test it --test none; $run --doc"
readers_log nocapture "$run --lib --test it -- --nocapture"
readers_log included "$run --lib -- --include-ignored"
readers_log filtered "$run --lib -- nobody"
readers_log quiet "$run -q --lib"
readers_log verbose "$run -v --test it"
readers_log forge "$run --test forge"
readers_log forge_self "$run --test forge_self"
readers_log crash "$run --test crash --test it --"
readers_log leaves "$run --test leaves --test it --"
readers_log hang "$run --test hang --no-run && timeout -s KILL 2 cargo test --test hang --"
readers_log broken "$run --test broken --test it"
readers_log bench "$set_up; RUSTC_BOOTSTRAP=1 cargo bench --bench speed"
readers_log direct "$run --test it --no-run && rm /tmp/target/debug/deps/*.d && /tmp/target/debug/deps/it-*"
readers_log json_all "$set_up; $json --lib --bins --test it --test none -- -Zunstable-options --format json"
readers_log json_doc "$set_up; $json --doc -- -Zunstable-options --format json"
readers_log json_forge "$set_up; $json --test forge -- -Zunstable-options --format json"
readers_log json_crash "$set_up; $json --test crash --test it -- -Zunstable-options --format json"
readers_log json_leaves "$set_up; $json --test leaves -- -Zunstable-options --format json"
readers_log json_hang "$set_up; $json --test hang --no-run && RUSTC_BOOTSTRAP=1 timeout -s KILL 2 cargo test --test hang -- -Zunstable-options --format json"
