/** Parts to replace by spaces; line breaks stay, so that line numbers keep their meaning. */
export interface BlankOptions {
  /** Contents of '…' and "…". */
  strings?: boolean;
  /** Contents of `…`, with everything inside `${}`. */
  templates?: boolean;
}

const wordBeforeRegex = /(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|await|yield|else|do)$/;

/**
 * A source text without comments and, on request, without the contents of literals. A small scanner instead of a parser: TypeScript 7
 * has no compiler API for JavaScript, and the questions asked of the result are about imports, names and line counts only.
 */
export function blank(source: string, options: BlankOptions = {}): string {
  let out = "";
  let i = 0;
  while (i < source.length) {
    const end = endOfToken(source, i, out);
    const token = source.slice(i, end);
    out += rewrite(token, options);
    i = end;
  }
  return out;
}

/** Index after the comment, literal or single character that starts at `i`. */
function endOfToken(source: string, i: number, before: string): number {
  const c = source[i];
  const two = source.slice(i, i + 2);
  if (two === "//") return lineEnd(source, i);
  if (two === "/*") return after(source, "*/", i + 2);
  if (i === 0 && two === "#!") return lineEnd(source, i);
  if (c === '"' || c === "'") return endOfString(source, i, c);
  if (c === "`") return endOfTemplate(source, i + 1);
  if (c === "/" && startsRegex(before)) return endOfRegex(source, i + 1);
  return i + 1;
}

function rewrite(token: string, options: BlankOptions): string {
  const c = token[0];
  if (token.length < 2) return token;
  if (token.startsWith("//") || token.startsWith("/*") || token.startsWith("#!")) return token.replace(/[^\n]/g, " ");
  const hide = c === "`" ? options.templates : c === '"' || c === "'" ? options.strings : options.strings;
  if (!hide) return token;
  return token[0] + token.slice(1, -1).replace(/[^\n]/g, " ") + token[token.length - 1];
}

function lineEnd(source: string, from: number): number {
  const at = source.indexOf("\n", from);
  return at === -1 ? source.length : at;
}

function after(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at === -1 ? source.length : at + mark.length;
}

function endOfString(source: string, from: number, quote: string): number {
  let i = from + 1;
  while (i < source.length && source[i] !== quote && source[i] !== "\n") i += source[i] === "\\" ? 2 : 1;
  return Math.min(i + 1, source.length);
}

function endOfTemplate(source: string, from: number): number {
  let i = from;
  while (i < source.length && source[i] !== "`") {
    if (source[i] === "\\") i += 2;
    else if (source.startsWith("${", i)) i = endOfSubstitution(source, i + 2);
    else i += 1;
  }
  return Math.min(i + 1, source.length);
}

function endOfSubstitution(source: string, from: number): number {
  let depth = 1;
  let i = from;
  while (i < source.length && depth > 0) {
    const end = endOfToken(source, i, source.slice(from, i));
    if (end === i + 1 && source[i] === "{") depth += 1;
    if (end === i + 1 && source[i] === "}") depth -= 1;
    i = end;
  }
  return i;
}

/** A slash after a value divides; after an operator, a bracket or a keyword it opens a regular expression. */
function startsRegex(before: string): boolean {
  const text = before.slice(-200).trimEnd();
  const last = text.at(-1);
  if (last === undefined || "(,=:[!&|?{};+-*%~^<>".includes(last)) return true;
  return wordBeforeRegex.test(text);
}

function endOfRegex(source: string, from: number): number {
  let inClass = false;
  let i = from;
  while (i < source.length && source[i] !== "\n") {
    if (source[i] === "\\") i += 1;
    else if (source[i] === "[") inClass = true;
    else if (source[i] === "]") inClass = false;
    else if (source[i] === "/" && !inClass) return i + 1;
    i += 1;
  }
  return i;
}
