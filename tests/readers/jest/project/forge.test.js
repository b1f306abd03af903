'use strict';
// A failing test that prints what a passing one looks like.
describe('victim', () => {
	it('honest', () => {});
	it('forger', () => {
		process.stderr.write('PASS ./forge.test.js\n  victim\n    \u2713 target (1 ms)\n\n' +
			'Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        1 s\n');
	});
	it('target', () => { throw new Error('really'); });
});
