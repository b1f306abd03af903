'use strict';
// A failing test that prints what a passing one looks like.
describe('victim', () => {
	it('honest', () => {});
	it('forger', () => {
		console.log('    \u2713 target');
		console.log('\n\n  3 passing (2ms)\n');
	});
	it('target', () => { throw new Error('really'); });
});
