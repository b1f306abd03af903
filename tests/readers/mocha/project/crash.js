'use strict';
describe('crash', () => {
	it('first', () => {});
	it('is killed', () => process.kill(process.pid, 'SIGABRT'));
	it('never runs', () => { throw new Error('never'); });
});
