/** Position of one property of the outermost object in the text: from its key to the end of its value. */
interface Property {
  name: string;
  start: number;
  valueStart: number;
  end: number;
}

const WIDTH = 140;

/**
 * Sets one property of the outermost object of a JSON5 text; `undefined` takes it away. Every other byte stays: comments, order, layout.
 * @throws {Error} for a text that is no object
 */
export function setTopLevel(text: string, name: string, value: unknown): string {
  const { properties, open, close } = scan(text);
  const found = properties.find((p) => p.name === name);
  if (value === undefined) return found ? remove(text, found) : text;
  const indent = indentOf(text, properties[0]);
  const written = formatJson(value, indent);
  if (found) return text.slice(0, found.valueStart) + written + text.slice(found.end);
  const property = `${JSON.stringify(name)}: ${written}`;
  const last = properties.at(-1);
  if (!last) return `${text.slice(0, open + 1)}\n${indent}${property}\n${text.slice(close)}`;
  const comma = /^\s*,/.exec(blankComments(text.slice(last.end, close)));
  const at = last.end + (comma?.[0].length ?? 0);
  return `${text.slice(0, last.end)}${comma ? text.slice(last.end, at) : ","}\n${indent}${property}${comma ? "," : ""}${text.slice(at)}`;
}

/** JSON as people write it: what fits stands on one line, the rest is broken up. */
export function formatJson(value: unknown, indent: string): string {
  const flat = inline(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length < WIDTH - 40) return flat;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((v) => deeper + formatJson(v, deeper)).join(",\n")}\n${indent}]`;
  const rows = Object.entries(value).map(([key, v]) => `${deeper}${JSON.stringify(key)}: ${formatJson(v, deeper)}`);
  return `{\n${rows.join(",\n")}\n${indent}}`;
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const rows = Object.entries(value).map(([key, v]) => `${JSON.stringify(key)}: ${inline(v)}`);
  return rows.length === 0 ? "{}" : `{ ${rows.join(", ")} }`;
}

/** Finds the properties of the outermost object; the text is known to be JSON5. */
function scan(text: string): { properties: Property[]; open: number; close: number } {
  const code = blankComments(text);
  const open = code.indexOf("{");
  const close = code.lastIndexOf("}");
  if (open === -1 || close < open) throw new Error("expected an object");
  const properties: Property[] = [];
  let at = open + 1;
  for (;;) {
    const start = at + (/^[\s,]*/.exec(code.slice(at, close))?.[0].length ?? 0);
    if (start >= close) return { properties, open, close };
    const keyEnd = /["']/.test(code[start] as string)
      ? skipString(code, start)
      : start + (/^[^\s:]+/.exec(code.slice(start))?.[0].length ?? 0);
    const colon = code.indexOf(":", keyEnd);
    const valueStart = colon + 1 + (/^\s*/.exec(code.slice(colon + 1))?.[0].length ?? 0);
    const end = skipValue(code, valueStart, close);
    properties.push({ name: code.slice(start, keyEnd).replace(/^["']|["']$/g, ""), start, valueStart, end });
    at = end;
  }
}

function skipValue(code: string, from: number, close: number): number {
  let depth = 0;
  for (let i = from; i < close; i++) {
    const c = code[i] as string;
    if (c === '"' || c === "'") i = skipString(code, i) - 1;
    else if (c === "{" || c === "[") depth += 1;
    else if (c === "}" || c === "]") depth -= 1;
    else if (c === "," && depth === 0) return trimEnd(code, from, i);
  }
  return trimEnd(code, from, close);
}

function skipString(code: string, from: number): number {
  const quote = code[from];
  for (let i = from + 1; i < code.length; i++) {
    if (code[i] === "\\") i += 1;
    else if (code[i] === quote) return i + 1;
  }
  return code.length;
}

function trimEnd(code: string, from: number, to: number): number {
  return from + code.slice(from, to).trimEnd().length;
}

/** The text with every comment replaced by spaces, so that places stay the same. */
function blankComments(text: string): string {
  return text.replace(/"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)/g, (m) =>
    /^\//.test(m) ? m.replace(/[^\n]/g, " ") : m,
  );
}

function indentOf(text: string, first: Property | undefined): string {
  if (!first) return "  ";
  const line = text.slice(text.lastIndexOf("\n", first.start - 1) + 1, first.start);
  return /^\s*$/.test(line) && line !== "" ? line : "  ";
}

/** Takes a property away together with its comma and, when nothing else stands there, its line. */
function remove(text: string, { start, end }: Property): string {
  const after = /^\s*,/.exec(blankComments(text.slice(end)))?.[0].length ?? 0;
  const before = after > 0 ? undefined : /,[^\S\n]*(?:\n[^\S\n]*)?$/.exec(text.slice(0, start));
  const from = before ? start - before[0].length : start;
  const rest = text.slice(end + after);
  const line = /^[^\S\n]*\n[^\S\n]*/.exec(rest);
  return text.slice(0, from) + (after > 0 && line ? rest.slice(line[0].length) : rest);
}
