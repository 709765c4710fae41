import { parseAst } from "rolldown/parseAst";
import type { Finding } from "./house-rules.ts";

/** Node of a parsed module, as far as the walk needs it. */
interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

/** Place of a node: the one that holds it, and by which member. */
interface Step {
  node: Node;
  member: string;
}

/** Piece of a template between its tags, or the value of an attribute. */
interface Piece {
  text: string;
  at: number;
  attribute?: string;
}

/** Attributes of elements and of the page's own parts that are read out or seen. */
const seenAttributes =
  /^(?:aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label|what|hint|word|sentence|text|note|reason|empty|action|heading)$/;
/** Attributes whose values name things for programs. */
const programAttributes =
  /^(?:class|kind|id|key|href|type|role|name|part|command|plugin|aria-(?:labelledby|controls|describedby)|on[A-Z]\w*)$/;
/** A word of at least two letters with a further word beside it. */
const phrase = /\p{L}{2,}[,.:;…]? +["“(]?\p{L}|\p{L}[,.:;]? +\p{L}{2,}/u;
/** Line for a shell, or a picture. */
const command = /^(?:svc|curl) |^'\{|^</;
const sentenceWord = /^\p{Lu}\p{Ll}+[….!?:]?$/u;
/** Names of keys of a keyboard, which events are compared with. */
const keyboard = /^(?:Enter|Escape|Tab|Home|End|Backspace|(?:Page|Arrow)(?:Up|Down|Left|Right))$/;

/**
 * Texts for people in a module of the control UI: between tags, in attributes that are seen or read out, and in strings that read like words of a language.
 * @param allowed texts that no translation would change
 */
export function pageTexts(path: string, code: string, allowed: ReadonlySet<string>): Finding[] {
  const found: Array<{ at: number; text: string }> = [];
  const note = (at: number, text: string) => {
    const told = text.replace(/\s+/g, " ").trim();
    if (!allowed.has(told)) found.push({ at, text: told });
  };
  walk(parseAst(code) as unknown as Node, [], (node, steps) => {
    if (isTemplate(node)) {
      for (const piece of piecesOf(code, node.quasi as Node)) if (isSeen(piece)) note(piece.at, piece.text);
    }
    const text = literalOf(node, steps);
    if (text !== undefined && readsAsWords(text) && !isForPrograms(node, steps, code)) note(node.start, text);
  });
  return found.map(({ at, text }) => ({ file: path, line: code.slice(0, at).split("\n").length, text: JSON.stringify(text) }));
}

/** Members that no walk follows. */
const plainMembers = new Set(["type", "start", "end"]);

function walk(node: Node, steps: readonly Step[], visit: (node: Node, steps: readonly Step[]) => void): void {
  visit(node, steps);
  for (const [member, value] of Object.entries(node)) {
    if (plainMembers.has(member)) continue;
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) walk(one, [...steps, { node, member }], visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null)?.type === "string" && typeof (value as Node).start === "number";
}

function isTemplate(node: Node): boolean {
  return node.type === "TaggedTemplateExpression" && (node.tag as Node).name === "html";
}

/** Texts between tags and quoted attributes of a template; its holes are code, and are looked at as such. */
function piecesOf(code: string, quasi: Node): Piece[] {
  const pieces: Piece[] = [];
  let [isInTag, attribute, quote] = [false, "", ""];
  for (const part of quasi.quasis as Node[]) {
    const text = code.slice(part.start, part.end);
    const scan = /[<>]|["']|\s([\w:-]+)(?==)|[^<>"'\s]+|\s/gy;
    let from = 0;
    const take = (to: number) => {
      const piece = text.slice(from, to);
      if (!isInTag) pieces.push({ text: piece, at: part.start + from });
      else if (quote !== "") pieces.push({ text: piece, at: part.start + from, attribute });
    };
    for (let m = scan.exec(text); m; m = scan.exec(text)) {
      const [token] = m;
      const isBorder = quote === "" ? token === (isInTag ? ">" : "<") : token === quote;
      if (quote === "" && isInTag && m[1] !== undefined) attribute = m[1];
      if (quote === "" && isInTag && (token === '"' || token === "'")) {
        quote = token;
        from = scan.lastIndex;
      } else if (isBorder) {
        take(m.index);
        if (quote === "") isInTag = !isInTag;
        quote = "";
        from = scan.lastIndex;
      }
    }
    take(text.length);
  }
  return pieces;
}

function isSeen({ text, attribute }: Piece): boolean {
  const isName = /^\S*[./:]\S+$/.test(text.trim());
  return /\p{L}{2}/u.test(text) && !isName && !command.test(text.trim()) && (attribute === undefined || seenAttributes.test(attribute));
}

/** Text of a literal, with a letter for each hole; undefined for what is none, or is a template of elements. */
function literalOf(node: Node, steps: readonly Step[]): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || steps.at(-1)?.node.type === "TaggedTemplateExpression") return undefined;
  const parts = (node.quasis as Array<{ value: { cooked: string } }>).map(({ value }) => value.cooked);
  return parts.some((part) => /\p{L}{2}/u.test(part)) ? parts.join("x") : undefined;
}

function readsAsWords(text: string): boolean {
  if (command.test(text)) return false;
  return phrase.test(text) || (sentenceWord.test(text) && !keyboard.test(text));
}

/** Methods that take selectors, media queries and other names. */
const selecting = /^(?:querySelector(?:All)?|closest|matches|matchMedia|watch|includes)$/;

/** Is it read by programs only: a module, a selector, a class, one side of a comparison, a name of a member? */
function isForPrograms(literal: Node, steps: readonly Step[], code: string): boolean {
  let child = literal;
  for (const { node, member } of steps.toReversed()) {
    if (/^(?:Import|Export)/.test(node.type) && member === "source") return true;
    if (node.type === "BinaryExpression" && node.operator !== "+") return true;
    if (node.type === "SwitchCase" && member === "test") return true;
    if (node.type === "Property" && (member === "key" || programAttributes.test(String((node.key as Node).name)))) return true;
    if (node.type === "MemberExpression" && child === literal) return true;
    if (node.type === "CallExpression" && member !== "callee") return selecting.test(nameOf(node.callee as Node));
    if (node.type === "TemplateLiteral") {
      const before = code.slice(node.start, child.start);
      const attribute = /\s([\w-]+)=\$\{[^{}]*$/.exec(before)?.[1];
      if (attribute !== undefined) return programAttributes.test(attribute);
    }
    if (/Function/.test(node.type)) return false;
    child = node;
  }
  return false;
}

function nameOf(callee: Node): string {
  const name = callee.type === "MemberExpression" ? (callee.property as Node).name : callee.name;
  return String(name);
}
