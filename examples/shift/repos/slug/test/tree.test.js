"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { tree, walk } = require("../src/tree.js");
const { menu, trail } = require("../src/menu.js");
const { paths } = require("../src/cli.js");

const OUTLINE = [
	{ title: "About us", level: 1 },
	{ title: "The shop", level: 2 },
	{ title: "The shop", level: 2 },
	{ title: "Prices", level: 1 },
];

test("paths of a tree", () => {
	const all = [...walk(tree(OUTLINE))].map(({ page }) => page.path);
	assert.deepStrictEqual(all, ["/about-us", "/about-us/the-shop", "/about-us/the-shop-2", "/prices"]);
});

test("a level is left out", () => {
	assert.throws(() => tree([{ title: "a", level: 1 }, { title: "b", level: 3 }]), RangeError);
});

test("a menu is cut", () => {
	assert.strictEqual(menu(tree(OUTLINE), { depth: 1 }), "About us\nPrices");
	assert.strictEqual(menu(tree([{ title: "A very long title", level: 1 }]), { width: 9 }), "A very...");
});

test("the way to a page", () => {
	const way = trail(tree(OUTLINE), "/about-us/the-shop-2");
	assert.deepStrictEqual(way.map((step) => step.path), ["/about-us", "/about-us/the-shop-2"]);
	assert.strictEqual(trail(tree(OUTLINE), "/none"), null);
});

test("titles of a file", () => {
	assert.strictEqual(paths("Hello\n  Admin\n\nBye\n"), "/hello\n/hello/admin-page\n/bye");
	assert.throws(() => paths(" odd\n"), RangeError);
});
