"use strict";
const test = require("node:test");
const assert = require("node:assert");
const { clamp, add } = require("../src/num.js");

test("adds", () => {
	assert.strictEqual(add(1, 2), 3);
});

test("clamps from below", () => {
	assert.strictEqual(clamp(-1, 0, 5), 0);
});
