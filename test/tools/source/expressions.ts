import { parseAst } from "rolldown/parseAst";

/** A regular expression of a source text. */
export interface Expression {
  line: number;
  source: string;
  flags: string;
}

/** Regular expressions of a source text: the literal ones, and the number of those constructed at run time. */
export interface Expressions {
  literals: Expression[];
  constructed: number;
}

interface AstNode {
  type: string;
  start: number;
  regex?: { pattern: string; flags: string };
  callee?: { type: string; name?: string; property?: { name?: string } };
}

/** Reads a module of TypeScript or JavaScript. @throws when it does not parse */
export function expressionsIn(path: string, text: string): Expressions {
  const found: Expressions = { literals: [], constructed: 0 };
  visit(parseAst(text, { lang: /\.[cm]?ts(\.tmpl)?$/.test(path) ? "ts" : "js" }, path), (node) => {
    if (node.regex) found.literals.push({ line: lineAt(text, node.start), source: node.regex.pattern, flags: node.regex.flags });
    if ((node.type === "NewExpression" || node.type === "CallExpression") && isConstructor(node.callee)) found.constructed += 1;
  });
  return found;
}

function isConstructor(callee: AstNode["callee"]): boolean {
  return callee?.name === "RegExp" || callee?.property?.name === "RegExp";
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function visit(value: unknown, onNode: (node: AstNode) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, onNode);
  else if (typeof value === "object" && value !== null) {
    if ("type" in value && "start" in value) onNode(value as AstNode);
    for (const one of Object.values(value)) visit(one, onNode);
  }
}
