'use strict';
const assert = require('assert');
const boom = () => { throw new TypeError('not an assertion'); };

it('at the root', () => {});

describe('Calc', () => {
	it('adds', () => assert.strictEqual(1 + 1, 2));
	it('fails', () => assert.strictEqual(1, 2));
	it('errors', boom);
	it('is pending');
	it.skip('is skipped', boom);
	it('skips itself', function () { this.skip(); });
	it('times out', function (done) { this.timeout(20); });
	it('is slow', function (done) { this.slow(1); setTimeout(done, 30); });
	it('calls done twice', (done) => { done(); done(); });
	it('rejects', async () => { throw new Error('rejected'); });
	it('comes again', () => {});
	it('comes again', () => assert(false));
	it('succeeds at the second try', function () {
		this.retries(2);
		this.n = (this.n || 0) + 1;
		if (!global.tried) {
			global.tried = true;
			assert(false);
		}
	});
	describe('nested', () => {
		it('deep', () => {});
		describe('more', () => { it('deeper', () => assert(0)); });
	});
	it('after the nested suite', () => {});
	describe.skip('skipped suite', () => { it('inside', boom); });
});

describe('names: with a colon', () => {
	it('two  blanks and a [bracket]', () => {});
	it('"double" and \'single\' quotes', () => {});
	it('Gr\u00fc\u00dfe \u2713 \u{1f600}', () => {});
	it('a new\nline', () => {});
	it('a new\nline that fails', boom);
	it('12) number', () => {});
	it('- dash', () => {});
	it('\u2713 check (5ms)', () => {});
	it('ends like a time (12ms)', () => {});
	it('control \u0001 bell \u0007 tab\there', () => {});
	it('escape \u001b[31mred\u001b[0m', () => {});
	it('', () => {});
	it('trailing blank ', () => {});
	it('back\\slash', () => {});
	it('lone surrogate \ud800 and nul \u0000', boom);
});

describe('output', () => {
	it('prints lines', () => { console.log('hello'); console.error('  to stderr'); });
	it('prints without newline', () => { process.stdout.write('no newline'); });
	it('prints without newline and fails', () => { process.stdout.write('    \u2713 '); boom(); });
});
