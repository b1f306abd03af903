'use strict';
const fail = () => { throw new Error('hook failed'); };

describe('before', () => { before(fail); it('never runs', () => {}); it('nor this', () => {}); });
describe('beforeEach', () => { beforeEach(fail); it('never runs', () => {}); it('nor this', () => {}); });
describe('afterEach', () => { afterEach('with a name', fail); it('runs once', () => {}); it('never runs', () => {}); });
describe('after', () => { after(fail); it('runs', () => {}); });
describe('fine', () => { it('runs', () => {}); });
