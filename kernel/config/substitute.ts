import type { Env } from "../../sdk/types/common.ts";

/** `$${NAME}` keeps a literal `${NAME}`; `${NAME}` is replaced. */
const variable = /\$\$(\{[A-Z_][A-Z0-9_]*\})|\$\{([A-Z_][A-Z0-9_]*)\}/g;

/** A string that names variables without a value. */
export interface MissingVariable {
  path: Array<string | number>;
  /** Each once, in the order of the text. */
  names: string[];
}

/**
 * A copy of the tree with every `${NAME}` in a string value replaced by that variable (`NAME` = `[A-Z_][A-Z0-9_]*`); keys stay.
 * A string with a missing or empty variable is left out: its key from an object, its place from an array; the whole value is `undefined`
 * when it is such a string itself.
 */
export function substitute(tree: unknown, env: Env): { value: unknown; missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const walk = (value: unknown, path: Array<string | number>): unknown => {
    if (typeof value === "string") {
      const names = missingIn(value, env);
      if (names.length === 0) return substituteText(value, env);
      missing.push({ path, names });
      return undefined;
    }
    if (Array.isArray(value)) return value.map((inner, i) => walk(inner, [...path, i])).filter((inner) => inner !== undefined);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, walk(inner, [...path, key])] as const);
    return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
  };
  return { value: walk(tree, []), missing };
}

/** Does the text name at least one variable to be replaced? */
export function namesVariable(text: string): boolean {
  return [...text.matchAll(variable)].some((match) => match[2] !== undefined);
}

function substituteText(text: string, env: Env): string {
  return text.replace(variable, (_, literal: string | undefined, name: string) => (literal ? `$${literal}` : (env[name] as string)));
}

function missingIn(text: string, env: Env): string[] {
  const names = [...text.matchAll(variable)].flatMap((match) => (match[2] !== undefined && !env[match[2]] ? [match[2]] : []));
  return [...new Set(names)];
}
