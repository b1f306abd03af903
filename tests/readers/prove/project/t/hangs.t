use Test::More tests => 2;
$| = 1;
ok 1, 'one';
sleep 1000;
