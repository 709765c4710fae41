import { parse } from "@humanwhocodes/momoa";
import type { Locate, Place } from "./place.ts";

type Node = ReturnType<typeof parse>["body"];

/**
 * Finds where config paths stand in JSON5 text: the value's place, or the key's for `at: "key"`.
 * A missing path gives the place of its nearest present parent. The text is parsed once, when first asked about.
 */
export function locator(text: string): Locate {
  let root: Node | undefined;
  return (path, at = "value") => {
    try {
      root ??= parse(text, { mode: "json5", ranges: false }).body;
      return find(root, path, at);
    } catch {
      // The text parsed before; if this parser disagrees, the file's start is still a true place.
      return { line: 1, column: 1 };
    }
  };
}

function find(root: Node, path: ReadonlyArray<PropertyKey>, at: "key" | "value"): Place {
  let node: Node = root;
  let place: Place = node.loc.start;
  for (const part of path) {
    if (node.type === "Object") {
      const member = node.members.find((m) => memberName(m.name) === String(part));
      if (!member) return place;
      node = member.value;
      place = at === "key" ? member.name.loc.start : member.value.loc.start;
    } else if (node.type === "Array") {
      const element = node.elements[Number(part)];
      if (!element) return place;
      node = element.value;
      place = node.loc.start;
    } else {
      return place;
    }
  }
  return { line: place.line, column: place.column };
}

function memberName(name: { type: string; value?: unknown; name?: string }): string {
  return name.type === "Identifier" ? (name.name as string) : String(name.value);
}
