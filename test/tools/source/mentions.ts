import { blank } from "./blank.ts";

/** True when code (not a comment) calls one of these functions with this name as its first argument. */
export function callsWith(source: string, functions: readonly string[], name: string): boolean {
  if (!source.includes(name)) return false;
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\b(?:${functions.join("|")})(?:<[^>()]*>)?\\(\\s*["']${escaped}["']`).test(blank(source));
}

/** True when code holds this name as a literal. */
export function mentions(source: string, name: string): boolean {
  if (!source.includes(name)) return false;
  const code = blank(source);
  return (
    ['"', "'", "`"].some((quote) => code.includes(`${quote}${name}${quote}`)) || new RegExp(`\\b${name.replaceAll(".", "\\.")}:`).test(code)
  );
}

/** True when code or one of its texts (the title of a test, say) holds this dotted name as a whole. */
export function names(source: string, name: string): boolean {
  return source.includes(name) && new RegExp(`(?<![\\w.-])${name.replaceAll(".", "\\.")}(?![\\w-]|\\.\\w)`).test(blank(source));
}

/** True when code holds this name as a value: a string that is no key of a table. */
export function usesAsValue(source: string, name: string): boolean {
  if (!source.includes(name)) return false;
  return new RegExp(`(?<![{,]\\s*)(["'\`])${name}\\1|(["'\`])${name}\\2(?!\\s*:)`).test(blank(source));
}
