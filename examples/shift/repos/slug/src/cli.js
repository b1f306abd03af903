"use strict";

const fs = require("node:fs");
const { tree, walk } = require("./tree.js");

/* Titles of a text, one a line; each two blanks in front are a level. */
function outline(text) {
	return text.split("\n").filter((line) => line.trim()).map((line) => {
		const blanks = line.length - line.trimStart().length;

		if (blanks % 2)
			throw new RangeError(`"${line.trim()}" stands between two levels`);
		return { title: line.trim(), level: blanks / 2 + 1 };
	});
}

/* Paths of the titles, one a line. */
function paths(text) {
	const out = [];

	for (const { page } of walk(tree(outline(text))))
		out.push(page.path);
	return out.join("\n");
}

if (require.main === module) {
	if (process.argv.length !== 3) {
		console.error("usage: node src/cli.js FILE");
		process.exit(2);
	}
	try {
		console.log(paths(fs.readFileSync(process.argv[2], "utf8")));
	} catch (error) {
		console.error(`slug: ${error.message}`);
		process.exit(1);
	}
}

module.exports = { outline, paths };
