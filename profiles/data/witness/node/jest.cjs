/* The witness for jest: its results processor, called in the parent process when all test files have run. */
'use strict';

const state = require('./start.cjs');

const STATUS = { passed: 'passed', failed: 'failed', pending: 'skipped', todo: 'skipped', disabled: 'skipped', skipped: 'skipped' };

module.exports = (results) => {
	for (const file of results.testResults) {
		let bad = false;
		for (const test of file.testResults) {
			const status = STATUS[test.status] || 'error';
			const titles = [...test.ancestorTitles, test.title];
			bad ||= status === 'failed' || status === 'error';
			state.test(status, `${file.testFilePath} > ${titles.join(' ')}`);
		}
		// A file that could not be run, or a hook around all its tests.
		if (!bad && (file.testExecError || file.failureMessage))
			state.test('error', file.testFilePath);
	}
	return results;
};

module.exports.begin = () => {
	process.argv.push(`--testResultsProcessor=${__filename}`);
	state.report('jest');
};
