import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));
const manifest = read("package.json");
const { grammars, languages, problemMatchers, problemPatterns, snippets } = manifest.contributes;

test("every file that the manifest names is there and is JSON", () => {
  const paths = [...grammars, ...snippets].map((each) => each.path).concat(languages.map((each) => each.configuration));
  for (const path of paths) assert.ok(existsSync(new URL(path, root)), path);
  for (const path of paths) assert.equal(typeof read(path), "object", path);
});

test("a grammar's scope is the one in its file, and its languages are declared", () => {
  const known = languages.map((each) => each.id);
  for (const grammar of grammars) {
    assert.equal(read(grammar.path).scopeName, grammar.scopeName);
    for (const language of [grammar.language, ...Object.values(grammar.embeddedLanguages ?? {})]) {
      if (language) assert.ok(known.includes(language), language);
    }
  }
});

test("versions of tools are exact", () => {
  for (const [name, version] of Object.entries(manifest.devDependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test("every matcher uses a pattern that is there", () => {
  const names = problemPatterns.map((pattern) => pattern.name);
  for (const matcher of problemMatchers) assert.ok(names.includes(matcher.pattern.slice(1)), matcher.name);
});

test("a word of the editor is a whole name", () => {
  const word = new RegExp(`^(?:${read("language-configuration.json").wordPattern})$`);
  for (const name of ["gpu-0", "gpu.example.com/model", "team-a/train", "v1.2.3", "batch"]) assert.match(name, word);
  for (const text of ["gpu-", "a b", "a:b", "`a`", ".."]) assert.doesNotMatch(text, word);
});
