import { type Node, parseRegex } from "./parse.ts";

/** A family of strings: `head`, then `pump` again and again, then `tail`. */
export interface Attack {
  head: string;
  pump: string;
  tail: string;
}

/** Characters that are worth trying on any expression: of every usual class, and what ends a line. */
const usual = [
  "a",
  "Z",
  "0",
  " ",
  "\t",
  "\n",
  "\r",
  "\u2028",
  "\0",
  "_",
  "-",
  ".",
  "/",
  "\\",
  '"',
  "'",
  "`",
  "*",
  "#",
  "<",
  ">",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "|",
  ":",
  ";",
  "=",
  ",",
  "&",
  "%",
  "@",
  "~",
  "!",
  "\u00e9",
  "\u4e2d",
  "\u{1f600}",
  "\ud800",
];
/** Ends of the attacks written by hand, for every expression. */
const usualTails = ["", "\u2028x", "\n\n", " \u2028", "x\n"];
const MAX_ATTACKS = 900;

/** Strings on which a backtracking matcher may need more than linear work for this expression: derived from the expression itself. */
export function attacksOn(regex: RegExp): Attack[] {
  const tree = parseRegex(regex.source, regex.flags);
  const letters = alphabetOf(tree, regex);
  const found = new Map<string, Attack>();
  const add = (head: string, pump: string, tail: string) => {
    if (pump !== "" && found.size < MAX_ATTACKS) found.set(JSON.stringify([head, pump, tail]), { head, pump, tail });
  };
  const tails = [...new Set([...usualTails, ...letters])];
  const repeats = repeatsIn(tree, letters, regex);
  for (const { heads, pumps } of repeats) {
    for (const pump of pumps) {
      for (const tail of usualTails) for (const head of heads) add(head, pump, tail);
      for (const head of heads) add("", head + pump, "\u2028x");
    }
  }
  for (const { heads, pumps } of repeats)
    for (const pump of pumps) for (const head of heads) for (const tail of tails) add(head, pump, tail);
  for (const { heads, tailsAfter } of repeats) {
    for (const head of heads) add("", head, "");
    for (const tail of tailsAfter) for (const head of heads) add("", head + tail, "\u2028x");
  }
  for (const a of letters) for (const tail of ["", "\u2028x"]) add("", a, tail);
  for (const a of letters) for (const b of letters) if (a !== b) add("", a + b, "\u2028x");
  return [...found.values()];
}

/** One character of each kind that the classes of the expression tell apart. */
function alphabetOf(tree: Node, regex: RegExp): string[] {
  const sources = new Set<string>();
  collect(tree, (node) => node.type === "character" && sources.add(node.source));
  const tests = [...sources].map((source) => matcher(source, regex));
  const own = [...sources].map(literalOf).filter((c) => c !== undefined);
  const kinds = new Map<string, string>();
  for (const c of [...usual, ...own]) {
    const kind = tests.map((test) => (test(c) ? 1 : 0)).join("");
    if (!kinds.has(kind)) kinds.set(kind, c);
  }
  return [...kinds.values()].slice(0, 24);
}

/** The character that a source stands for when it can be only one. */
function literalOf(source: string): string | undefined {
  if (source.length === 1 && source !== ".") return source;
  const code = /^\\(?:u\{?|x)([\da-fA-F]+)\}?$/.exec(source)?.[1];
  if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
  return /^\\[^a-zA-Z]$/.test(source) ? source.slice(1) : undefined;
}

const matchers = new Map<string, (c: string) => boolean>();

function matcher(source: string, { flags }: RegExp): (c: string) => boolean {
  const key = `${source} ${flags}`;
  let test = matchers.get(key);
  if (!test) {
    const whole = new RegExp(`^(?:${source})$`, flags.replace(/[gymd]/g, ""));
    test = (c) => whole.test(c);
    matchers.set(key, test);
  }
  return test;
}

interface Repeat {
  /** Ways to get to it from the beginning of the expression. */
  heads: string[];
  /** Ways to go through its body once. */
  pumps: string[];
  /** Texts that the expression expects after it. */
  tailsAfter: string[];
}

/** All parts that may be repeated without a small bound. */
function repeatsIn(tree: Node, letters: readonly string[], regex: RegExp): Repeat[] {
  const out: Repeat[] = [];
  const walk = (node: Node, heads: string[], after: string): void => {
    switch (node.type) {
      case "alternatives":
        for (const option of node.options) walk(option, heads, after);
        return;
      case "group":
      case "look":
        return walk(node.body, heads, after);
      case "repeat":
        if (node.max > 16) out.push({ heads: [...new Set([...heads, "", "x"])], pumps: pumpsOf(node.body), tailsAfter: [after] });
        return walk(node.body, heads, after);
      case "sequence": {
        let before = heads;
        for (const [i, item] of node.items.entries()) {
          const behind =
            node.items
              .slice(i + 1)
              .map((next) => shortest(next))
              .join("") + after;
          walk(item, before, behind);
          before = [...new Set(before.flatMap((head) => steps(item).map((step) => head + step)))].slice(0, 4);
        }
        return;
      }
    }
  };
  /** Ways over one item: the shortest, and one that takes an optional part once. */
  const steps = (node: Node): string[] => [...new Set([shortest(node), shortest(node, 1)])];
  const pumpsOf = (body: Node): string[] => {
    if (body.type === "character") return letters.filter(matcher(body.source, regex)).slice(0, 8);
    const options =
      body.type === "group" && body.body.type === "alternatives" ? body.body.options : body.type === "alternatives" ? body.options : [body];
    const variants = options.flatMap((option) => [shortest(option), shortest(option, 1), ...letters.map((c) => shortest(option, 1, c))]);
    return [...new Set(variants)].filter((text) => text !== "").slice(0, 12);
  };
  /** A text that the node matches, with `times` rounds of each optional repetition; `wish` is taken wherever it fits. */
  const shortest = (node: Node, times = 0, wish?: string): string => {
    switch (node.type) {
      case "character":
        return [wish, literalOf(node.source), ...letters, ...usual].find((c) => c !== undefined && matcher(node.source, regex)(c)) ?? "";
      case "group":
        return shortest(node.body, times, wish);
      case "alternatives":
        return shortest(node.options[0] as Node, times, wish);
      case "repeat":
        return shortest(node.body, times, wish).repeat(Math.min(Math.max(node.min, Math.min(times, node.max)), 64));
      case "sequence":
        return node.items.map((item) => shortest(item, times, wish)).join("");
      default:
        return "";
    }
  };
  walk(tree, [""], "");
  return out;
}

function collect(node: Node, visit: (node: Node) => void): void {
  visit(node);
  if (node.type === "alternatives") for (const option of node.options) collect(option, visit);
  else if (node.type === "sequence") for (const item of node.items) collect(item, visit);
  else if (node.type === "repeat" || node.type === "group" || node.type === "look") collect(node.body, visit);
}
