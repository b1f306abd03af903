"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { slug } = require("../src/slug.js");
const { unique } = require("../src/unique.js");

test("words are joined", () => assert.strictEqual(slug("Hello, big World"), "hello-big-world"));
test("nothing is page", () => assert.strictEqual(slug("!?"), "page"));
test("reserved names", () => assert.strictEqual(slug("Admin"), "admin-page"));
test("no two alike", () => assert.deepStrictEqual(unique(["A b", "a B"]), ["a-b", "a-b-2"]));
