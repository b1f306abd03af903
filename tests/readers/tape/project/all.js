'use strict';
var test = require('tape');

test('passes', function (t) { t.equal(1, 1); t.ok(true, 'with a text'); t.end(); });
test('fails', function (t) { t.equal(1, 2, 'one is two'); t.end(); });
test('repeats', function (t) { t.ok(1, 'same'); t.ok(0, 'same'); t.ok(1, 'same'); t.end(); });
test.skip('is skipped', function (t) { t.fail(); t.end(); });
test('is still to do', { todo: true }, function (t) { t.ok(0, 'todo fails'); t.ok(1, 'todo passes'); t.end(); });
test('skips an assertion', function (t) { t.skip('not now'); t.end(); });
test('times out', { timeout: 20 }, function () {});
test('plan is not met', function (t) { t.plan(2); t.pass('only one'); t.end(); });
test('ends twice', function (t) { t.pass('once'); t.end(); t.end(); });
test('names: a colon, "double" and \'single\' quotes, [bracket]', function (t) { t.pass('two  blanks'); t.end(); });
test('Gr\u00fc\u00dfe \u2713 \ud83d\ude00', function (t) { t.pass('\u00fcber \u2713'); t.end(); });
test('a new\nline', function (t) { t.pass('a new\nline'); t.end(); });
test('hash # in it', function (t) { t.pass('hash # in it'); t.pass('# SKIP in front'); t.end(); });
test('control \u0001 \u0007', function (t) { t.pass('bell \u0007 escape \u001b[31mred\u001b[0m'); t.end(); });
test('nested', function (t) {
	t.test('inner', function (st) { st.pass('inside'); st.end(); });
	t.end();
});
test('output', function (t) {
	console.log('hello');
	console.log('# not a title');
	t.pass('after lines');
	process.stdout.write('no newline');
	t.pass('after half a line');
	t.end();
});
test('comes again', function (t) { t.pass('one'); t.end(); });
test('comes again', function (t) { t.fail('one'); t.end(); });
