// `node scripts/check-package.mjs PACKAGE`: the package holds what the manifest names, and nothing else.
import { readFileSync } from "node:fs";

const EXPECTED = [
  "[Content_Types].xml",
  "extension.vsixmanifest",
  "extension/LICENSE.txt",
  "extension/cel-language-configuration.json",
  "extension/changelog.md",
  "extension/language-configuration.json",
  "extension/package.json",
  "extension/readme.md",
  "extension/snippets/dra.json",
  "extension/syntaxes/cel.tmLanguage.json",
  "extension/syntaxes/dra.tmLanguage.json",
  "extension/syntaxes/markdown-dra.json",
];

/** The names of a zip file's entries, from its central directory. */
function entries(zip) {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error("not a zip file");
  const names = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const length = zip.readUInt16LE(at + 28);
    names.push(zip.toString("utf8", at + 46, at + 46 + length));
    at += 46 + length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return names;
}

const found = entries(readFileSync(process.argv[2])).sort();
const missing = EXPECTED.filter((name) => !found.includes(name));
const unexpected = found.filter((name) => !EXPECTED.includes(name));
if (missing.length || unexpected.length) {
  console.error(`missing: ${missing.join(", ") || "nothing"}; unexpected: ${unexpected.join(", ") || "nothing"}`);
  process.exit(1);
}
console.log(`${process.argv[2]}: ${found.length} files, as expected`);
