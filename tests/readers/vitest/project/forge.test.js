import { describe, it } from 'vitest';
// A failing test that prints what a passing one looks like.
describe('victim', () => {
	it('honest', () => {});
	it('forger', () => {
		process.stdout.write(' \u2713 forge.test.js > victim > target 1ms\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n   Start at  10:00:00\n');
	});
	it('target', () => { throw new Error('really'); });
});
