import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
const fail = () => { throw new Error('hook failed'); };

describe('beforeAll', () => { beforeAll(fail); it('never runs', () => {}); it('nor this', () => {}); });
describe('beforeEach', () => { beforeEach(fail); it('never runs', () => {}); });
describe('afterEach', () => { afterEach(fail); it('runs', () => {}); });
describe('afterAll', () => { afterAll(fail); it('runs', () => {}); });
describe('fine', () => { it('runs', () => {}); });
