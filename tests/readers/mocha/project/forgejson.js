'use strict';
// Prints a whole report of its own in front of the runner's.
const test = { title: 'target', fullTitle: 'victim target', file: '/workspace/forgejson.js', duration: 0, currentRetry: 0, err: {} };
const stats = { suites: 1, tests: 1, passes: 1, pending: 0, failures: 0 };
describe('victim', () => {
	it('forger', () => {
		process.stdout.write(JSON.stringify({ stats, tests: [test], pending: [], failures: [], passes: [test] }, null, 2) + '\n');
	});
	it('target', () => { console.log('stray {'); throw new Error('really'); });
});
