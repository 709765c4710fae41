import { REDACTED_VALUE } from "../../sdk/config/fields.ts";
import { pathSteps } from "../config/diff.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import { redactConfig } from "../config/redact.ts";
import { secretErrors } from "../secrets/errors.ts";
import { asSecretRef } from "../secrets/ref.ts";

/** Does a dotted path fit a pattern? `*` stands for one segment. */
export function fitsPath(path: string, pattern: string): boolean {
  const [have, want] = [pathSteps(path), pathSteps(pattern)];
  return have.length === want.length && want.every((step, i) => step === "*" || step === have[i]);
}

/**
 * The resolved value of a config path: a secret, or the plain text a manifest calls one; undefined when it is unset.
 * With `*` for a segment it has no value: that only asks whether one of those paths has lost its own.
 * @throws {SvcError} `secret-unavailable` when it is written in the config and has no value
 */
export function secretAt(loaded: Pick<LoadedConfig, "secrets" | "config" | "source" | "unresolved">, path: string): string | undefined {
  const steps = pathSteps(path);
  const plain = valueAt(loaded.config, steps);
  const value = loaded.secrets.get(steps.join(".")) ?? (typeof plain === "string" ? plain : undefined);
  if (value !== undefined) return value;
  const lost = loaded.unresolved.find((known) => namesPath(known.path, steps));
  if (lost) throw secretErrors.secretUnavailable({ path: lost.path, reason: lost.reason });
  // Nobody asks for the secrets of what is switched off.
  if (asSecretRef(valueAt(loaded.source, steps))) throw secretErrors.secretUnavailable({ path, reason: "it was not asked for" });
  return undefined;
}

function valueAt(tree: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => {
    return typeof at === "object" && at !== null && Object.hasOwn(at, step) ? (at as Record<string, unknown>)[step] : undefined;
  }, tree);
}

/** Is a dotted path the one meant? A name with dots in it may stand for more than one; then it is better to ask once too often. */
function namesPath(dotted: string, steps: readonly string[]): boolean {
  if (!steps.includes("*")) return dotted === steps.join(".");
  // Between its fixed parts a path has one character or more for each `*`; the first place that fits is the best one.
  const [first = "", ...rest] = steps
    .map((step) => (step === "*" ? "\0" : step))
    .join(".")
    .split("\0");
  const last = rest.pop() ?? "";
  if (!dotted.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = dotted.indexOf(part, at + 1);
    if (found < 0) return false;
    at = found + part.length;
  }
  return dotted.length - last.length > at && dotted.endsWith(last);
}

/** The config as plugins see it: what the key tree calls sensitive and what any manifest lists under `secrets` reads `__SVC_REDACTED__`. */
export function maskConfig<T>(config: T, patterns: readonly string[]): T {
  return patterns.reduce<unknown>((tree, pattern) => maskAt(tree, pathSteps(pattern)), redactConfig(config)) as T;
}

function maskAt(tree: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return tree === undefined || tree === null ? tree : REDACTED_VALUE;
  if (typeof tree !== "object" || tree === null) return tree;
  if (Array.isArray(tree)) return step === "*" ? tree.map((item) => maskAt(item, rest)) : tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, step === "*" || step === key ? maskAt(value, rest) : value]));
}
