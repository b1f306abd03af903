#!/usr/bin/env bash
# perl's prove and Test::More.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need prove perl
some="t/forms.t t/passes.t t/plan.t t/dies.t t/killed.t t/leaves.t t/skipall.t t/version14.t
t/twice.t t/numberless.t t/empty.t 't/no newline.t'"
some=${some//$'\n'/ }
readers_log verbose "prove -v --norc $some"
readers_log merged "prove -v --merge --norc $some"
readers_log forge "prove -v --norc t/passes.t t/forge.t"
readers_log forge-files "prove --norc t/passes.t t/forge.t t/says.t"
readers_log files "prove --norc $some"
readers_log colour "prove --color -v --norc t/passes.t t/forms.t"
readers_log passes "prove --norc t/passes.t t/skipall.t"
readers_log passes-verbose "prove -v --norc t/passes.t t/skipall.t"
readers_log shuffled "prove -v -j 2 --norc t/passes.t t/plan.t"
readers_log timer "prove --timer -v --norc t/passes.t"
readers_log bail "prove -v --norc t/bail.t t/passes.t"
readers_log hangs "timeout 5 prove -v --norc t/passes.t t/hangs.t"
readers_log none "prove --norc t/nothing.t"
readers_log perl "perl t/forms.t"
readers_log perl-killed "perl t/killed.t"
