import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
describe('quit', () => {
	it('first', () => {});
	it('leaves with status 0', () => process.exit(0));
	it('never runs', () => { throw new Error('never'); });
});
