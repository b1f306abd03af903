'use strict';
const { after, afterEach, before, beforeEach, describe, it } = require('node:test');
const fail = () => { throw new Error('hook failed'); };

describe('before', () => { before(fail); it('never runs', () => {}); });
describe('beforeEach', () => { beforeEach(fail); it('never runs', () => {}); });
describe('afterEach', () => { afterEach(fail); it('runs', () => {}); });
describe('after', () => { after(fail); it('runs', () => {}); });
describe('fine', () => { it('runs', () => {}); });
