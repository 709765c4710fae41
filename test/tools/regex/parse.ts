/** A regular expression as a tree, as far as strings that are hard for it can be derived from it. */
export type Node =
  | { type: "alternatives"; options: Node[] }
  | { type: "sequence"; items: Node[] }
  | { type: "repeat"; body: Node; min: number; max: number }
  /** One character: a literal, an escape, a class or the dot, by its own source. */
  | { type: "character"; source: string }
  | { type: "group"; body: Node }
  | { type: "look"; body: Node; negative: boolean }
  /** `^`, `$`, `\b`, `\B` and references back: nothing to put into a string. */
  | { type: "assertion" };

/** Parses what JavaScript accepts as a pattern. The pattern is known to compile, so nothing is checked. */
export function parseRegex(pattern: string, flags: string): Node {
  const isUnicode = /[uv]/.test(flags);
  let at = 0;

  const alternatives = (): Node => {
    const options = [sequence()];
    while (pattern[at] === "|") {
      at += 1;
      options.push(sequence());
    }
    return options.length === 1 ? (options[0] as Node) : { type: "alternatives", options };
  };

  const sequence = (): Node => {
    const items: Node[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") items.push(quantified(atom()));
    return { type: "sequence", items };
  };

  const quantified = (body: Node): Node => {
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(pattern.slice(at, at + 24));
    if (!found) return body;
    at += found[0].length;
    const [, sign, low, comma, high] = found;
    if (sign) return { type: "repeat", body, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
    const max = comma === undefined ? Number(low) : high ? Number(high) : Number.POSITIVE_INFINITY;
    return { type: "repeat", body, min: Number(low), max };
  };

  const atom = (): Node => {
    const c = pattern[at];
    if (c === "(") return group();
    if (c === "^" || c === "$") {
      at += 1;
      return { type: "assertion" };
    }
    if (c === "[") return { type: "character", source: take(endOfClass()) };
    if (c !== "\\") return { type: "character", source: take(at + (isUnicode && (pattern.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)) };
    const escaped =
      /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k<[^>]*>|[1-9]\d*|[\s\S])/.exec(
        pattern.slice(at, at + 64),
      );
    const source = take(at + (escaped?.[0].length ?? 2));
    return /^\\(?:[bB]|k<|[1-9])/.test(source) ? { type: "assertion" } : { type: "character", source };
  };

  const take = (end: number): string => {
    const source = pattern.slice(at, end);
    at = end;
    return source;
  };

  const endOfClass = (): number => {
    let depth = 0;
    for (let i = at; i < pattern.length; i++) {
      if (pattern[i] === "\\") i += 1;
      else if (pattern[i] === "[" && (depth === 0 || flags.includes("v"))) depth += 1;
      else if (pattern[i] === "]" && --depth === 0) return i + 1;
    }
    return pattern.length;
  };

  const group = (): Node => {
    const head = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(pattern.slice(at, at + 64))?.[0] ?? "(";
    at += head.length;
    const body = alternatives();
    at += 1;
    if (/[=!]$/.test(head)) return { type: "look", body, negative: head.endsWith("!") };
    return { type: "group", body };
  };

  return alternatives();
}
