import { marked, type OriginNode } from "../../sdk/config/origin.ts";

/** A value with the place it was written in. */
export interface Piece {
  value: unknown;
  origin: OriginNode;
}

/**
 * Lays one value over another: objects merge key by key, everything else replaces. What replaces something is marked as come `via`; what
 * only one side has keeps its own mark.
 */
export function mergePieces(base: Piece, over: Piece, via: "array" | "override"): Piece {
  if (!isPlainObject(base.value) || !isPlainObject(over.value)) return { value: over.value, origin: marked(over.origin, via) };
  const value: Record<string, unknown> = { ...base.value };
  const children = new Map<string, OriginNode>(base.origin.children);
  for (const [key, inner] of Object.entries(over.value)) {
    const next: Piece = { value: inner, origin: childOf(over.origin, key) };
    const merged = Object.hasOwn(base.value, key)
      ? mergePieces({ value: base.value[key], origin: childOf(base.origin, key) }, next, via)
      : next;
    value[key] = merged.value;
    children.set(key, merged.origin);
  }
  return { value, origin: { ...base.origin, children } };
}

function childOf(node: OriginNode, key: string): OriginNode {
  return node.children?.get(key) ?? { file: node.file, path: [...node.path, key], via: node.via };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
