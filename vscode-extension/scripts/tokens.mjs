// Tokens of .dra texts with their scopes, as the editor sees them: `node scripts/tokens.mjs < LIST`, where LIST is a JSON
// list of texts; prints a JSON list (a text each) of lists (a line each) of [start, end, scopes].
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const root = new URL("../", import.meta.url);
const GRAMMARS = {
  "source.dra": "syntaxes/dra.tmLanguage.json",
  "source.cel.dra": "syntaxes/cel.tmLanguage.json",
  "markdown.dra.codeblock": "syntaxes/markdown-dra.json",
};
const LINE_LIMIT = 10_000; // ms; the editor itself gives a line of up to 20,000 characters much less
// Stands for the editor's own grammar of Markdown, which the injection goes into.
const MARKDOWN = '{"scopeName": "text.html.markdown", "patterns": []}';

/** A grammar by its scope, with those of this folder and their injection into Markdown. */
export async function loadGrammar(scopeName = "source.dra") {
  const wasm = readFileSync(new URL(import.meta.resolve("vscode-oniguruma/release/onig.wasm")));
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      if (scope === "text.html.markdown") return textmate.parseRawGrammar(MARKDOWN, "markdown.json");
      if (!(scope in GRAMMARS)) return null;
      return textmate.parseRawGrammar(readFileSync(new URL(GRAMMARS[scope], root), "utf8"), GRAMMARS[scope]);
    },
    getInjections: (scope) => (scope === "text.html.markdown" ? ["markdown.dra.codeblock"] : undefined),
  });
  return registry.loadGrammar(scopeName);
}

/** The tokens of a text, a list a line: [start, end, scopes]; columns count UTF-16 units. */
export function tokenize(grammar, text) {
  let stack = textmate.INITIAL;
  return text.split("\n").map((line) => {
    const result = grammar.tokenizeLine(line, stack, LINE_LIMIT);
    if (result.stoppedEarly) throw new Error(`took longer than ${LINE_LIMIT} ms: ${line.slice(0, 100)}`);
    stack = result.ruleStack;
    return result.tokens.map((token) => [token.startIndex, Math.min(token.endIndex, line.length), token.scopes]);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const grammar = await loadGrammar();
  const texts = JSON.parse(readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify(texts.map((text) => tokenize(grammar, text))));
}
