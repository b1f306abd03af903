// Make text of a component before it is looked at.
const fs = require('fs');
const text = fs.readFileSync('index.js', 'utf8');
const line = '      var currentPath = path[0];\n';
const good = line + "      if (typeof currentPath !== 'number') currentPath = String(currentPath);\n";
if (!text.includes(good)) fs.writeFileSync('index.js', text.replace(line, () => good));
