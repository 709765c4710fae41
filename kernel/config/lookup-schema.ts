import type { Manifest, UiHint } from "../../sdk/types/manifest.ts";
import type { ReloadClass } from "../../sdk/types/reload.ts";
import type { ComposedSchema } from "./compose-schema.ts";
import { pathSteps } from "./diff.ts";
import { reloadClassOf } from "./reload-class.ts";
import { classifyChanges } from "./reload-plan.ts";
import { childNode, deref, isObjectSchema, membersOf, type SchemaTree } from "./schema-tree.ts";

/** One node of the key tree with what stands directly below it. */
export interface SchemaLookup {
  path: string;
  /** JSON Schema of the node alone: `children` has the rest. */
  schema: SchemaTree;
  reloadKind: "restart" | "hot" | "none";
  hint?: UiHint;
  children: Array<{ key: string; path: string; type: string; required: boolean; hasChildren: boolean }>;
}

const kinds: Record<ReloadClass, SchemaLookup["reloadKind"]> = {
  none: "none",
  hot: "hot",
  plugin: "hot",
  channel: "hot",
  restart: "restart",
};

/**
 * Looks up one path of a composed schema. Pure.
 *
 * @param path dotted; `""` is the root; `*` stands for any name or list member
 * @returns undefined when no key of the tree has this path
 */
export function lookupSchema(composed: ComposedSchema, path: string, manifests: readonly Manifest[] = []): SchemaLookup | undefined {
  const steps = pathSteps(path);
  let node: SchemaTree | undefined = composed.schema;
  const root = composed.schema;
  for (const step of steps) {
    node = childNode(node, step, root);
    if (!node) return undefined;
  }
  const hint = hintAt(composed.uiHints, steps);
  return {
    path,
    schema: withoutChildren(deref(node, root)),
    reloadKind: kinds[classOf(path, manifests)],
    ...(hint ? { hint } : {}),
    children: childrenOf(node, root, path),
  };
}

function classOf(path: string, manifests: readonly Manifest[]): ReloadClass {
  if (path === "") return "restart";
  const [action] = classifyChanges([path], {
    classOf: (at) => reloadClassOf(at).reload,
    manifestReload: (id) => manifests.find((m) => m.id === id)?.reload,
    authModeChanged: false,
  });
  return action?.reload ?? "restart";
}

/** The hint of a path: its own, else that of the same path with names and members replaced by `*`. */
function hintAt(hints: Record<string, UiHint>, steps: readonly string[]): UiHint | undefined {
  const own = hints[steps.join(".")];
  if (own) return own;
  const found = Object.keys(hints).find((path) => {
    const parts = path.split(".");
    return parts.length === steps.length && parts.every((part, i) => part === "*" || part === steps[i]);
  });
  return found === undefined ? undefined : hints[found];
}

function childrenOf(node: SchemaTree, root: SchemaTree, path: string): SchemaLookup["children"] {
  const at = deref(node, root);
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  const entry = (key: string, child: SchemaTree, required: boolean) => ({
    key,
    path: below(key),
    type: typeName(deref(child, root)),
    required,
    hasChildren: hasChildren(child, root),
  });
  const named = membersOf(at, root).map((member) => entry(member.key, member.node, member.required));
  const any = childNode(at, "*", root);
  return any ? [...named, entry("*", any, false)] : named;
}

function hasChildren(node: SchemaTree, root: SchemaTree): boolean {
  return !node.sensitive && (membersOf(node, root).length > 0 || childNode(node, "*", root) !== undefined);
}

/** `string`, `integer | string`; `any` where the schema says nothing. */
function typeName(node: SchemaTree): string {
  const options = node.anyOf ?? node.oneOf;
  if (options) return [...new Set(options.map(typeName))].join(" | ");
  if (Array.isArray(node.type)) return node.type.join(" | ");
  if (node.type) return node.type;
  const value = node.const ?? node.enum?.[0];
  return value === undefined ? "any" : value === null ? "null" : typeof value;
}

function withoutChildren(node: SchemaTree): SchemaTree {
  const { properties: _, $defs: __, ...rest } = node;
  return isObjectSchema(rest.additionalProperties) ? { ...rest, additionalProperties: {} } : rest;
}
