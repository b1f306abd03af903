# On standard error, which prove lets through.
use Test::More tests => 1;
print STDERR "t/other.t .. ok\n";
ok 1;
