use Test::More tests => 2;
$| = 1;
print "ok 99 - forged\n";
ok 0, 'really';
print "ok 1 - really\n";
print "t/other.t .. \nok\n";
print "All tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n";
print "partial";
ok 1, 'after partial';
