# Test::More: every kind of result and of name.
use strict;
use warnings;
use utf8;
use Test::More;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output todo_output);

ok 1, 'passes';
ok 0, 'fails';
is 1, 2, 'is fails';
ok 1;
ok 0;
ok 1, 'blanks  [brackets] "quotes" \'single\'';
ok 1, "Unicode \x{e9}\x{2603}";
ok 1, 'a # sign and \ backslash';
ok 1, "two\nlines";
ok 1, 'twice';
ok 1, 'twice';
ok 1, "control \x01\e[31m";
SKIP: { skip 'no reason (really)', 2; ok 1, 'never'; ok 1, 'never'; }
TODO: { local $TODO = 'later'; ok 0, 'todo fails'; ok 1, 'todo passes'; }
subtest 'a subtest' => sub { plan tests => 2; ok 1, 'inner'; ok 0, 'inner fails'; };
subtest 'skipped subtest' => sub { plan skip_all => 'not here' };
diag 'to standard error';
note 'to standard output';
done_testing;
