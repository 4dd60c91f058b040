import assert from "node:assert/strict";
import test from "node:test";
import { loadGrammar, tokenize } from "../../scripts/tokens.mjs";

const grammar = await loadGrammar("text.html.markdown");

/** The innermost scopes of the tokens of a text, with their texts; blanks left out. */
function tokens(text) {
  const lines = text.split("\n");
  return tokenize(grammar, text).flatMap((found, number) =>
    found
      .map(([start, end, scopes]) => [lines[number].slice(start, end).trim(), scopes])
      .filter(([shown]) => shown !== ""),
  );
}

test("a block of dra in Markdown is coloured as dra, and only that", () => {
  const found = tokens('# pod x\n\n```dra\npod train { claim gpu from one }\nclass gpu { where `true` }\n```\n\npod y\n\n```yaml\npod z\n```\n');
  const of = (text) => found.filter(([shown]) => shown === text).map(([, scopes]) => scopes.at(-1));
  assert.deepEqual(of("train"), ["entity.name.type.dra"]);
  assert.deepEqual(of("from"), ["keyword.control.structure.dra"]);
  assert.deepEqual(of("true"), ["constant.language.boolean.cel"]);
  for (const text of ["# pod x", "pod y", "pod z"]) {
    assert.ok(found.some(([shown, scopes]) => shown === text && !scopes.some((scope) => scope.endsWith(".dra"))), text);
  }
});

test("an unfinished block ends with its fence", () => {
  const found = tokens("```dra\nclass gpu { where `device.driver ==\n```\npod y\n");
  const [, scopes] = found.find(([shown]) => shown === "pod y");
  assert.deepEqual(scopes, ["text.html.markdown"]);
});
