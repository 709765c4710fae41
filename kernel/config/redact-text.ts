import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { isSensitiveText } from "../../sdk/config/sensitive-name.ts";
import { redactUrl } from "../secrets/redact-url.ts";
import { editText, freshText } from "./edit-text.ts";
import { commentEnd, json5Spans, type Span } from "./json5-spans.ts";
import { type RedactOptions, redactConfig, secretsIn, withoutSecrets } from "./redact.ts";
import { maskComments } from "./redact-comments.ts";

/**
 * The text of a config file without its secrets; comments and layout stay, unless the layout could hide one.
 * @param source what the parser makes of the text; undefined when it does not parse: nothing is shown of a text nobody understands
 */
export function redactText(text: string, source: unknown, options: RedactOptions): string {
  if (text.trim() === "") return text;
  if (source === undefined) return "";
  const next = redactConfig(source, options);
  // Of a key that stands twice only the last is in the tree, so the first could not be judged.
  if (repeatsKeys(text)) return freshText(next);
  const { text: edited } = editText(text, { current: source, next });
  const secrets = secretsIn(source, options).filter((secret) => secret.length > 3);
  const isTelling = tellingIn(options);
  return mapComments(edited, (comment, line) => {
    const beside = line.includes(REDACTED_VALUE) ? withoutLikelySecrets(comment) : comment;
    const plain = maskComments(beside, { isTelling, placeholder: REDACTED_VALUE });
    return withoutSecrets(redactUrl(plain, REDACTED_VALUE), secrets);
  });
}

/** Beside a secret there often stands the one before it: on that line goes what is in quotes, and words with digits in them. */
function withoutLikelySecrets(comment: string): string {
  const [line = ""] = comment.split(/[\r\n]/, 1);
  const masked = line.replace(wordOrQuoted, (text) => (/^["']|\d/.test(text) ? REDACTED_VALUE : text));
  return masked + comment.slice(line.length);
}

/** Names whose values are secret wherever a comment may have them from. */
function tellingIn({ patterns = [] }: RedactOptions): (name: string) => boolean {
  const declared = new Set(["args", "env", ...patterns.map(lastName)]);
  return (name) => isSensitiveText(lastName(name), "") || declared.has(lastName(name));
}

function lastName(path: string): string {
  return path.split(".").findLast((part) => part !== "*" && part !== "") ?? "";
}

function repeatsKeys(text: string): boolean {
  const repeats = (span: Span): boolean => {
    if (span.kind === "array") return span.elements.some(repeats);
    if (span.kind !== "object") return false;
    return new Set(span.members.map((m) => m.name)).size < span.members.length || span.members.some((m) => repeats(m.value));
  };
  try {
    return repeats(json5Spans(text));
  } catch {
    return true; // a layout this program cannot follow
  }
}

const wordOrQuoted = /"(?:[^"\\]|\\[\s\S])*\\?(?:"|$)|(?<!\w)'(?:[^'\\]|\\[\s\S])*\\?(?:'|$)|[^\s"',;()]{6,}/g;
const blanks = /\s*/y;

/**
 * Comments with nothing but blanks between them are one: a line that was taken out may have been one of several.
 * @param change gets also what stands on the line before it
 */
function mapComments(text: string, change: (comment: string, line: string) => string): string {
  let out = "";
  for (let at = 0; at < text.length; ) {
    const quote = text[at];
    const isString = quote === '"' || quote === "'";
    const end = isString ? stringEnd(text, at) : commentsEnd(text, at);
    out += end === at ? text[at] : isString ? text.slice(at, end) : change(text.slice(at, end), out.slice(out.lastIndexOf("\n") + 1));
    at = Math.max(end, at + 1);
  }
  return out;
}

function commentsEnd(text: string, start: number): number {
  let end = start;
  for (let next = start; ; ) {
    const close = commentEnd(text, next);
    if (close === next) return end;
    end = close;
    blanks.lastIndex = close;
    blanks.test(text);
    next = blanks.lastIndex;
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== text[start]; at += 1) if (text[at] === "\\") at += 1;
  return at + 1;
}
