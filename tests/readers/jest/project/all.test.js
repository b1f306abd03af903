'use strict';
const boom = () => { throw new TypeError('not an assertion'); };

test('at the root', () => {});

describe('Calc', () => {
	it('adds', () => expect(1 + 1).toBe(2));
	it('fails', () => expect(1).toBe(2));
	it('errors', boom);
	it.todo('is still to do');
	it.skip('is skipped', boom);
	it.failing('fails as expected', boom);
	it.failing('passes unexpectedly', () => {});
	it('times out', (done) => {}, 20);
	it('is slow', () => new Promise((r) => setTimeout(r, 400)));
	it('rejects', async () => { throw new Error('rejected'); });
	it('comes again', () => {});
	it('comes again', () => expect(1).toBe(2));
	describe('nested', () => {
		it('deep', () => {});
		describe('more', () => { it('deeper', boom); });
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
	it('\u2713 check (5 ms)', () => {});
	it('ends like a time (12 ms)', () => {});
	it('control \u0001 bell \u0007 tab\there', () => {});
	it('escape \u001b[31mred\u001b[0m', () => {});
	it('trailing blank ', () => {});
	it('skipped looks like todo', () => {});
	it('todo a word', () => {});
	it.each([[1, 'a b'], [2, 'c > d']])('row %i of %s', () => {});
	it('lone surrogate \ud800 and nul \u0000', boom);
});

describe('output', () => {
	it('prints lines', () => { console.log('hello'); console.error('  to stderr'); });
	it('prints without newline', () => { process.stdout.write('no newline'); });
	it('prints a mark without newline and fails', () => { process.stdout.write('    \u2713 '); boom(); });
});
