#!/usr/bin/env bash
# Debian's minitest.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need ruby
ruby="/usr/bin/ruby"
$ruby -e 'require "minitest"' 2>/dev/null || readers_skip "ruby-minitest is not installed"
readers_log verbose "$ruby test_forms.rb -v --seed 1"
readers_log quiet "$ruby test_forms.rb --seed 1"
readers_log forge "$ruby test_forge.rb -v --seed 1"
readers_log small "$ruby test_small.rb -v --seed 1"
readers_log small-quiet "$ruby test_small.rb --seed 1"
readers_log two-runs "$ruby test_small.rb -v --seed 1; $ruby test_exit.rb -v --seed 1 -n test_a"
readers_log leaves "$ruby test_exit.rb -v --seed 1"
readers_log killed "$ruby test_killed.rb -v --seed 1"
readers_log hangs "timeout 5 $ruby test_hangs.rb -v --seed 1"
readers_log load "$ruby test_load.rb -v"
readers_log forged-end "$ruby test_forged_end.rb -v --seed 1"
readers_log parallel "N=1 $ruby test_parallel.rb -v --seed 1"
readers_log none "$ruby test_small.rb -v --seed 1 -n nothing"
readers_log no-skips "$ruby test_forms.rb -v --seed 1 -n /skip/"
