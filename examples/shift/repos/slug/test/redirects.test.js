"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { Redirects, moved } = require("../src/redirects.js");
const { tree, walk } = require("../src/tree.js");

test("chains become one step", () => {
	const r = new Redirects();
	r.move("/a", "/b");
	r.move("/b", "/c");
	assert.strictEqual(r.find("/a"), "/c");
	assert.strictEqual(r.text(), "/a /c\n/b /c");
});

test("moving back", () => {
	const r = new Redirects();
	r.move("/a", "/b");
	r.move("/b", "/a");
	assert.strictEqual(r.find("/a"), "/a");
	assert.strictEqual(r.find("/b"), "/a");
});

test("between two trees", () => {
	const before = tree([{ title: "One", level: 1 }, { title: "Two", level: 1 }]);
	const after = tree([{ title: "One", level: 1 }, { title: "Two", level: 2 }]);
	assert.strictEqual(moved(before, after, walk).text(), "/two /one/two");
});
