import { pathSteps } from "../config/diff.ts";
import { REDACTED_VALUE, redactConfig } from "../config/redact.ts";

/** Does a dotted path fit a pattern? `*` stands for one segment. */
export function fitsPath(path: string, pattern: string): boolean {
  const [have, want] = [pathSteps(path), pathSteps(pattern)];
  return have.length === want.length && want.every((step, i) => step === "*" || step === have[i]);
}

/** The resolved value of a config path: a secret, or the plain text a manifest calls one; undefined when it is unset. */
export function secretAt({ secrets, config }: { secrets: ReadonlyMap<string, string>; config: unknown }, path: string): string | undefined {
  const steps = pathSteps(path);
  const plain = steps.reduce<unknown>((at, step) => {
    return typeof at === "object" && at !== null && Object.hasOwn(at, step) ? (at as Record<string, unknown>)[step] : undefined;
  }, config);
  return secrets.get(steps.join(".")) ?? (typeof plain === "string" ? plain : undefined);
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
