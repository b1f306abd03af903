'use strict';
const { test } = require('node:test');
// A failing test that prints what a passing one looks like.
test('forger', () => {
	console.log('\u2714 target (0.1ms)\nok 7 - target\n\u2139 tests 1\n\u2139 suites 0\n\u2139 pass 1\n\u2139 fail 0\n1..1');
});
test('target', () => { throw new Error('really'); });
