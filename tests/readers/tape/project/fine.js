'use strict';
var test = require('tape');
test('fine', function (t) { t.plan(1); t.pass('it is'); });
