import { blank } from "./blank.ts";

export interface ImportOf {
  specifier: string;
  /** `import type`, `export type … from`, or a type written as `import("…").Name`. */
  typeOnly: boolean;
  /** `import("…")` as a value. */
  dynamic: boolean;
}

const clause = /(?:^|[;}\n])\s*(?:import|export)\b(\s+type\b(?!\s*,|\s+from\b))?(?:[\w*{}\s,$"'-]*?\bfrom\b)?\s*(["'])([^"'\n]+)\2/g;
const call = /(.)?\bimport\(\s*(["'])([^"'\n]+)\2\s*\)(\s*\.\s*[A-Z])?/g;

/** Imports of a module, in order of appearance. Text inside comments and template literals does not count. */
export function importsOf(source: string): ImportOf[] {
  const code = blank(source, { templates: true });
  const bare = blank(source, { templates: true, strings: true });
  const found: Array<ImportOf & { at: number }> = [];
  for (const m of code.matchAll(clause)) {
    if (!/import|export/.test(bare.slice(m.index, m.index + m[0].length))) continue; // a sentence in a string
    found.push({ at: m.index, specifier: m[3] as string, typeOnly: m[1] !== undefined, dynamic: false });
  }
  for (const m of code.matchAll(call)) {
    if (!bare.slice(m.index, m.index + m[0].length).includes("import(")) continue;
    found.push({ at: m.index, specifier: m[3] as string, typeOnly: m[4] !== undefined, dynamic: m[4] === undefined });
  }
  return found.sort((a, b) => a.at - b.at).map(({ at: _, ...found }) => found);
}

/** `@scope/name/part` → `@scope/name`; `zod/v4` → `zod`; `svc/sdk/testing` and `node:fs` stay whole. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith("node:") || specifier.startsWith("svc/")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
