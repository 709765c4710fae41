import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pageTexts } from "../../test/tools/source/page-texts.ts";

const root = join(import.meta.dirname, "public");
const modules = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".js"));
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Texts that no translation changes. `x` stands for a value. */
const allowed = new Set([
  ...["svc", "Anthropic", "Google", "Mistral", "Groq", "Together", "Fireworks", "Ollama", "LM Studio"],
  ...["Edge", "Opera", "Firefox", "Chrome", "Safari", "Android", "Windows", "Mac", "Linux"],
  ...["Ctrl", "Alt", "Shift", "Esc"],
  // Notes of a change in the gateway's own log, and what programs read.
  ...["control UI", "a changed config", "a change waits for it", "models: add x", "models: another key of x", "models: remove x"],
  ...["Bearer x", "not the worker of this build", "11px system-ui"],
]);

const advice = `A text for people stands outside of the catalogue. Move it to public/texts/<view>.js (frame.js: what the first load shows;
parts.js: what several views share; <view>-more.js: what is opened on demand), as a name for a text or a small function for one with
values in it, then import { texts } from there and write texts.<name> in its place. Plural forms: plural(n, texts.<name>).`;

test("texts for people stand in the catalogue", () => {
  const found = modules.filter((path) => !path.startsWith("texts/")).flatMap((path) => pageTexts(path, read(path), allowed));

  expect(
    found.map(({ file, line, text }) => `${file}:${line}: ${text}`),
    advice,
  ).toEqual([]);
});

test.each([
  ["between tags", "html`<p>Not <b>saved</b>: ${reason}</p>`", ["Not", "saved"]],
  [
    "in attributes that are seen or read out",
    'html`<a class="big red" aria-label="Next page" title=${"Last page"}></a>`',
    ["Next page", "Last page"],
  ],
  ["in a part's own attributes", 'html`<${Failure} what="The list could not be read." />`', ["The list could not be read."]],
  ["in holes, for either case", 'html`<b>${isOn ? "Switched on" : "Off"}</b>`', ["Switched on", "Off"]],
  [
    "in strings and templates of code",
    'announce(`${name} was saved.`); fail("Nothing was saved.");',
    ["x was saved.", "Nothing was saved."],
  ],
])("a text is found %s", (_where, code, texts) => {
  expect(pageTexts("a.js", code, new Set()).map(({ text }) => JSON.parse(text))).toEqual(texts);
});

test("names for programs are no texts", () => {
  const code = `import { a } from "./a b.js"; if (word === "Not this") open.querySelector("main p");
    html\`<p class="one two" id=\${\`row \${id}\`}>\${name} <code>svc status --deep</code></p>\`; "one two".split(" ");`;

  expect(pageTexts("a.js", code, new Set())).toEqual([]);
});

test("a file of the catalogue asks for nothing and holds texts, plural forms and small functions", async () => {
  for (const path of modules.filter((one) => one.startsWith("texts/"))) {
    expect(read(path), path).not.toMatch(/^import /m);
    const { texts, ...rest } = (await import(new URL(`public/${path}`, import.meta.url).href)) as { texts: Record<string, unknown> };
    expect(Object.keys(rest), path).toEqual([]);
    const odd = Object.entries(texts).filter(([, text]) => !isText(text));
    expect(odd, path).toEqual([]);
  }
});

test("every text is used, where its file is imported", () => {
  const used = new Map<string, Set<string>>();
  for (const path of modules) {
    const [, file] = /from "[./]*texts\/([\w-]+\.js)"/.exec(read(path)) ?? [];
    if (file === undefined) continue;
    const names = used.get(file) ?? new Set();
    used.set(file, names);
    for (const [, name] of read(path).matchAll(/\btexts\.(\w+)/g)) names.add(name as string);
  }
  const unused = modules.flatMap((path) => {
    if (!path.startsWith("texts/")) return [];
    const names = [...read(path).matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name as string);
    return names.filter((name) => !used.get(path.slice("texts/".length))?.has(name)).map((name) => `${path}: ${name}`);
  });
  expect(unused).toEqual([]);
});

function isText(value: unknown): boolean {
  if (typeof value === "string" || typeof value === "function") return true;
  return Object.values(value as object).every(isText);
}
