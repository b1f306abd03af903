'use strict';
var test = require('tape');
test('first', function (t) { t.pass('one'); t.end(); });
test('throws', function (t) { t.pass('two'); process.kill(process.pid, 'SIGABRT'); });
test('never runs', function (t) { t.pass('three'); t.end(); });
