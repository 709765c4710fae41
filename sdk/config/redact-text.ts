import { editText, freshText } from "./edit-text.ts";
import { commentEnd, json5Spans, type Span } from "./json5-spans.ts";
import { type RedactOptions, redactConfig, secretsIn, withoutSecrets } from "./redact.ts";

/**
 * The text of a config file without its secrets; comments and layout stay, unless the layout could hide one.
 * @param source what the parser makes of the text; undefined when it does not parse: nothing is shown of a text nobody understands
 */
export function redactText(text: string, source: unknown, options: RedactOptions & { parse(text: string): unknown }): string {
  if (text.trim() === "") return text;
  if (source === undefined) return "";
  const next = redactConfig(source, options);
  // Of a key that stands twice only the last is in the tree, so the first could not be judged.
  if (repeatsKeys(text, options.parse)) return freshText(next);
  const { text: edited } = editText(text, { current: source, next, parse: options.parse });
  const secrets = secretsIn(source, options).filter((secret) => secret.length > 3);
  return secrets.length === 0 ? edited : mapComments(edited, (comment) => withoutSecrets(comment, secrets));
}

function repeatsKeys(text: string, parse: (text: string) => unknown): boolean {
  const repeats = (span: Span): boolean => {
    if (span.kind === "array") return span.elements.some(repeats);
    if (span.kind !== "object") return false;
    return new Set(span.members.map((m) => m.name)).size < span.members.length || span.members.some((m) => repeats(m.value));
  };
  try {
    return repeats(json5Spans(text, parse));
  } catch {
    return true; // a layout this program cannot follow
  }
}

function mapComments(text: string, change: (comment: string) => string): string {
  let out = "";
  for (let at = 0; at < text.length; ) {
    const quote = text[at];
    const isString = quote === '"' || quote === "'";
    const end = isString ? stringEnd(text, at) : commentEnd(text, at);
    out += end === at ? text[at] : isString ? text.slice(at, end) : change(text.slice(at, end));
    at = Math.max(end, at + 1);
  }
  return out;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== text[start]; at += 1) if (text[at] === "\\") at += 1;
  return at + 1;
}
