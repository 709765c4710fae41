import type { Verifier } from "./ingress.ts";
import type { Mapping } from "./mappings/mapping.ts";
import { createVerifier, secretProblems } from "./verify/verifier.ts";

/** The value of a sensitive config path, or why it has none. */
export type SecretAt = (path: string) => { value?: string; problem?: string };

/**
 * Verifiers of the operator's mappings by path. A secret that cannot be had opens nothing: the path stays shut, and the token is no way round it.
 * @param mappings `hooks.mappings`, in that order
 */
export function openVerifiers(
  mappings: ReadonlyArray<{ id: string; mapping: Mapping }>,
  secretAt: SecretAt,
): { byPath: ReadonlyMap<string, Verifier>; problems: string[] } {
  const byPath = new Map<string, Verifier>();
  const problems: string[] = [];
  mappings.forEach(({ id, mapping: { verify, match } }, i) => {
    if (!verify || match?.path === undefined) return;
    const at = `hooks.mappings.${i}.verify`;
    const paths = verify.secrets ? verify.secrets.map((_, place) => `${at}.secrets.${place}`) : [`${at}.secret`];
    const found = paths.map(secretAt);
    const secrets = found.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const lost = found.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    byPath.set(match.path, createVerifier({ id, verify }, secrets));
    problems.push(...[...lost, ...secretProblems(verify, secrets)].map((problem) => `mapping "${id}": ${problem}`));
  });
  return { byPath, problems };
}
