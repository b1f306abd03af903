use Test::More tests => 2;
ok 1, 'one';
kill 9, $$;
