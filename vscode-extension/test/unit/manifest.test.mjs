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

const patterns = Object.fromEntries(problemPatterns.map(({ name, ...rest }) => [name, rest]));

/** What the editor would read from some lines with a pattern of one or several lines. */
function matched(name, lines) {
  const parts = patterns[name].patterns ?? [patterns[name]];
  const found = {};
  for (const [number, part] of parts.entries()) {
    const groups = new RegExp(part.regexp).exec(lines[number] ?? "");
    if (!groups) return null;
    for (const key of ["file", "line", "column", "severity", "code", "message"]) {
      if (part[key]) found[key] = groups[part[key]];
    }
  }
  return found;
}

test("matchers use patterns that are there", () => {
  for (const matcher of problemMatchers) assert.ok(patterns[matcher.pattern.slice(1)], matcher.name);
});

const ONE_LINE = {
  "an error with its code": [
    "specs/gpu.dra:12:7: error[DRA0123]: unknown class `gpu`",
    { file: "specs/gpu.dra", line: "12", column: "7", severity: "error", code: "DRA0123", message: "unknown class `gpu`" },
  ],
  "a code without a severity": [
    "gpu.dra:1:2: DRA0101: unexpected character `-`",
    { file: "gpu.dra", line: "1", column: "2", severity: undefined, code: "DRA0101", message: "unexpected character `-`" },
  ],
  "a warning of a manifest": [
    "manifests/a b.yaml:3:1: warning: unused",
    { file: "manifests/a b.yaml", line: "3", column: "1", severity: "warning", code: undefined, message: "unused" },
  ],
  "a failed expectation": [
    "specs/gpu.dra:9:3: expected train runs, but it is pending",
    { file: "specs/gpu.dra", line: "9", column: "3", severity: undefined, code: undefined, message: "expected train runs, but it is pending" },
  ],
};
for (const [name, [line, expected]] of Object.entries(ONE_LINE)) {
  test(`one line: ${name}`, () => assert.deepEqual(matched("dralang", [line]), expected));
}
for (const line of ["12 | expect train runs", "2 passed, 1 failed in 0.10s", "  --> specs/gpu.dra:12:7"]) {
  test(`one line: no problem in ${line}`, () => assert.equal(matched("dralang", [line]), null));
}

test("block: the message on one line, the place on the next", () => {
  const found = matched("dralang-block", ["error[DRA0123]: unknown class `gpu`", "  --> specs/gpu.dra:12:7"]);
  assert.deepEqual(found, {
    file: "specs/gpu.dra",
    line: "12",
    column: "7",
    severity: "error",
    code: "DRA0123",
    message: "unknown class `gpu`",
  });
});
