import { it } from 'vitest';
// The error comes when no test is running: the run fails, the tests pass.
it('leaves a rejection behind', () => { Promise.reject(new Error('nobody waits')); });
