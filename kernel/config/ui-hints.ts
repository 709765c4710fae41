import type { Manifest, UiHint } from "../../sdk/types/manifest.ts";
import { alternatives, deref, isObjectSchema, type SchemaTree } from "./schema-tree.ts";

/** Keys whose change is rare or risky: forms fold them away. */
const advancedKeys =
  /(^|\.)(dangerously\w*|limits|rateLimit|trustedProxy|experimental|chunking|batch|maintenance|deferralTimeoutMs|debounceMs)(\.|$)/;

/** Hints of every path of a composed schema; what manifests say wins. Pure. */
export function uiHintsOf(schema: SchemaTree, manifests: readonly Manifest[]): Record<string, UiHint> {
  const hints: Record<string, UiHint> = {};
  visit(schema, { path: "", root: schema, within: [], hints });
  for (const manifest of manifests) {
    for (const [path, hint] of Object.entries(manifest.uiHints ?? {})) merge(hints, absolutePath(manifest.id, path), hint);
    for (const { path } of manifest.secrets ?? []) merge(hints, absolutePath(manifest.id, path), { sensitive: true });
  }
  return hints;
}

/** A manifest's path: absolute where it begins with a root section that plugins may describe, else below the plugin's own config. */
export function absolutePath(pluginId: string, path: string): string {
  return /^(plugins|channels|models|hooks)\./.test(path) ? path : `plugins.entries.${pluginId}.config.${path}`;
}

function merge(hints: Record<string, UiHint>, path: string, hint: UiHint): void {
  hints[path] = { ...hints[path], ...hint };
}

interface Walk {
  path: string;
  root: SchemaTree;
  /** References followed on the way here: a schema may refer to itself. */
  within: readonly string[];
  hints: Record<string, UiHint>;
}

function visit(node: SchemaTree, at: Walk): void {
  const ref = node.$ref;
  if (ref !== undefined && at.within.includes(ref)) return;
  const within = ref === undefined ? at.within : [...at.within, ref];
  const own = hintOf(node, at.path);
  if (at.path !== "" && Object.keys(own).length > 0) at.hints[at.path] = own;
  // A reference to a secret is one value to a person: what it is made of has no fields of its own.
  if (own.sensitive) return;
  for (const option of alternatives(deref(node, at.root))) {
    const target = deref(option, at.root);
    const below = (key: string, child: SchemaTree) => visit(child, { ...at, path: at.path === "" ? key : `${at.path}.${key}`, within });
    for (const [key, child] of Object.entries(target.properties ?? {})) below(key, child);
    if (isObjectSchema(target.additionalProperties)) below("*", target.additionalProperties);
    if (isObjectSchema(target.items)) below("*", target.items);
  }
}

function hintOf(node: SchemaTree, path: string): UiHint {
  const { label, description, sensitive, placeholder, advanced } = node;
  const text = label ?? labelOf(path);
  return {
    ...(description || label ? { label: text } : {}),
    ...(description ? { help: description } : {}),
    ...(sensitive ? { sensitive: true } : {}),
    ...(placeholder ? { placeholder } : {}),
    ...(advanced || (description && advancedKeys.test(path)) ? { advanced: true } : {}),
  };
}

/** `maxBodyBytes` → `Max body bytes`. */
function labelOf(path: string): string {
  const key = path.split(".").findLast((step) => step !== "*") ?? path;
  const words = key.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
