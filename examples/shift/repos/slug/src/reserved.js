"use strict";

/* What the server answers itself. */
const RESERVED = new Set(["admin", "login", "static"]);

function isReserved(name) {
	return RESERVED.has(name);
}

module.exports = { isReserved, RESERVED };
