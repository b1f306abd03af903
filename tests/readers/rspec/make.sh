#!/usr/bin/env bash
# Debian's RSpec.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need rspec
rspec="rspec --no-color --order defined"
forms="spec/forms_spec.rb spec/small_spec.rb"
readers_log documentation "$rspec -f d $forms"
readers_log colour "rspec --force-color --order defined -f d $forms"
readers_log progress "$rspec $forms"
readers_log json "$rspec -f json -o o.json $forms" o.json
readers_log json-output "$rspec -f json spec/small_spec.rb"
readers_log small "$rspec -f d spec/small_spec.rb"
readers_log two-runs "$rspec -f d spec/small_spec.rb; $rspec -f d spec/small_spec.rb -e one"
readers_log prints "$rspec -f d spec/prints_spec.rb"
readers_log forge "$rspec -f d spec/forge_spec.rb"
readers_log forge-json "$rspec -f json -o o.json spec/forge_spec.rb" o.json
readers_log leaves "$rspec -f d spec/leaves_spec.rb"
readers_log killed "$rspec -f d spec/killed_spec.rb"
readers_log hangs "timeout 5 $rspec -f d spec/hangs_spec.rb"
readers_log load "$rspec -f d spec/load_spec.rb spec/small_spec.rb"
readers_log load-json "$rspec -f json -o o.json spec/load_spec.rb spec/small_spec.rb" o.json
readers_log none "$rspec -f d spec/small_spec.rb -e nothing"
readers_log dry-run "$rspec -f d --dry-run spec/small_spec.rb"
readers_log forged-end "$rspec -f d spec/forged_end_spec.rb"
readers_log fail-fast "$rspec -f d --fail-fast spec/forms_spec.rb"
