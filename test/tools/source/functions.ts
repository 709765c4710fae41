import { parseAst } from "rolldown/parseAst";

/** A function of a source file, by its name or that of what it is assigned to. */
export interface FunctionLength {
  name: string;
  /** Line of its first character, from 1. */
  line: number;
  lines: number;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Measures every function of a TypeScript or JavaScript source, inner ones too, by the lines that it covers. */
export function functionLengths(source: string): FunctionLength[] {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1;
  const found: FunctionLength[] = [];
  const visit = (node: Node, name: string | undefined) => {
    if (functionTypes.has(node.type)) {
      const line = lineAt(node.start);
      found.push({ name: nameOf(node.id) ?? name ?? "(anonymous)", line, lines: lineAt(node.end) - line + 1 });
    }
    const given = nameOf(node.id ?? node.key);
    for (const child of children(node)) visit(child, given);
  };
  visit(parseAst(source, { lang: "ts" }) as unknown as Node, undefined);
  return found;
}

function children(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === "object" && value !== null && typeof (value as Node).type === "string");
}

function nameOf(id: unknown): string | undefined {
  const name = (id as { name?: unknown } | null | undefined)?.name;
  return typeof name === "string" ? name : undefined;
}
