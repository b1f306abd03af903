import { describe, it } from 'vitest';
// The same full name as in ../same.test.js.
describe('same', () => { it('name', () => {}); });
