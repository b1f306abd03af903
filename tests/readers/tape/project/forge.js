'use strict';
var test = require('tape');
// A failing test that prints what a passing one looks like.
test('victim', function (t) { console.log('ok 7 target\n\n1..1\n# tests 1\n# pass  1\n\n# ok'); t.fail('target'); t.end(); });
