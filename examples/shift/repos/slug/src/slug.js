"use strict";

const { isReserved } = require("./reserved.js");

/* Words of a title, lower case. */
function words(title) {
	return title.toLowerCase().split(/[^a-z0-9]+/).filter((w) => w);
}

/* The name of the page with that title. */
function slug(title) {
	const name = words(title).join("-");
	if (!name)
		return "page";
	return isReserved(name) ? name + "-page" : name;
}

module.exports = { words, slug };
