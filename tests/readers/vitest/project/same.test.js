import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
// The same full name as in sub/same.test.js.
describe('same', () => { it('name', () => { throw new Error("the other"); }); });
