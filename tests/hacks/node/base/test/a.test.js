"use strict";
require("../src/num.js");
