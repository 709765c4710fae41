import type { LanguageServer } from "./language-server.ts";

/** A file that is not on disk: one line for each key, which reads it from a config. */
const PROBE = "kernel/config-key-probe.ts";

const head = [
  'import type { SvcConfig } from "../sdk/config/root.ts";',
  "declare const config: SvcConfig;",
  "declare function inside<T>(value: T): Extract<NonNullable<T>, object>;",
];

/**
 * Files of the product that read each config key, by the compiler's own knowledge: a property of the same name elsewhere does not count.
 * @param keys paths as the reference page has them: `<name>` for a name, `[]` for a list member
 * @returns by key; a key that only its schema and checks know has none
 */
export async function readersOf(keys: readonly string[], server: LanguageServer): Promise<Map<string, string[]>> {
  const lines = keys.map(expressionOf);
  server.open(PROBE, [...head, ...lines.map(({ text }) => text)].join("\n"));
  const found = await Promise.all(
    lines.map(({ column }, i) =>
      server.references({ path: PROBE, line: head.length + i, column }).then((places) => places.map((at) => at.path)),
    ),
  );
  return new Map(keys.map((key, i) => [key, [...new Set(found[i])].filter(isReader).sort()]));
}

/** `inside(inside(config.gateway).auth).token;` with the column of the last name; a map of plain values is read as a whole. */
function expressionOf(key: string): { text: string; column: number } {
  const steps = key
    .replace(/(\.<name>)+$/, "")
    .replaceAll("[]", ".[]")
    .split(".")
    .filter(Boolean);
  let text = "config";
  let column = 0;
  for (const step of steps) {
    const from = text === "config" ? text : `inside(${text})`;
    const isAny = step === "[]" || step === "<name>";
    column = from.length + 1;
    text = isAny ? `${from}[${step === "[]" ? "0" : '"x"'}]` : `${from}.${step}`;
  }
  return { text: `${text};`, column };
}

/** Code that does something with a value; schemas, rules between keys and warnings only judge it. */
function isReader(path: string): boolean {
  if (path === PROBE || /\.test\.ts$|\/test-[^/]*\.ts$|^test\/|^sdk\/testing\/|\/testing\//.test(path)) return false;
  return (
    !/^(sdk\/config\/|kernel\/config\/(sections\/|(root-schema|section-types)\.ts$)|plugins\/[^/]+\/sections\.ts$)/.test(path) &&
    !/^kernel\/config\/(conflicts-\w+|known-ids|cross-field|clamp-warnings|memory-warnings)\.ts$/.test(path)
  );
}
