'use strict';
// With --ci a snapshot that is not there is not written: the test fails.
describe('snapshot', () => { it('is new', () => expect({ a: 1 }).toMatchSnapshot()); });
