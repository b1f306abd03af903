#!/usr/bin/env bash
# Debian's test-unit.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need ruby
ruby="/usr/bin/ruby"
$ruby -e 'require "test-unit"' 2>/dev/null || readers_skip "ruby-test-unit is not installed"
readers_log verbose "$ruby test_forms.rb --runner=console -v --no-use-color"
readers_log quiet "$ruby test_forms.rb --runner=console --no-use-color"
readers_log small "$ruby test_small.rb -v --no-use-color"
readers_log leaves "$ruby test_leaves.rb -v --no-use-color"

