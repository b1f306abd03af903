'use strict';
// No test of node:test: the file itself is the test.
console.log('ok 1 - printed');
