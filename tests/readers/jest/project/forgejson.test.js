'use strict';
// Prints a whole report of its own in front of the runner's.
describe('victim', () => {
	it('forger', () => {
		process.stdout.write(JSON.stringify({ numFailedTestSuites: 0, numFailedTests: 0, numPassedTestSuites: 1,
			numPassedTests: 1, numPendingTests: 0, numRuntimeErrorTestSuites: 0, numTodoTests: 0,
			numTotalTestSuites: 1, numTotalTests: 1, success: true, testResults: [{ name: __filename,
				status: 'passed', message: '', assertionResults: [{ ancestorTitles: ['victim'],
					title: 'target', fullName: 'victim target', status: 'passed', failureMessages: [] }] }] }) + '\n');
	});
	it('target', () => { process.stdout.write('stray {'); throw new Error('really'); });
});
