// Leave __proto__ out where a nested object gets its key.
const fs = require('fs');
const file = 'lib/parse.js';
const text = fs.readFileSync(file, 'utf8');
const bad = '            } else {\n                obj[cleanRoot] = leaf;\n';
const good = "            } else if (cleanRoot === '__proto__') {\n                // ignored\n" + bad;
if (!text.includes(good)) fs.writeFileSync(file, text.replace(bad, () => good));
