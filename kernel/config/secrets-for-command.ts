import { commonErrors } from "../../sdk/errors.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { isActiveSecret } from "../secrets/owner.ts";
import { secretSites } from "../secrets/ref.ts";
import { composeConfigSchema, warmConfigSchema } from "./compose-schema.ts";
import type { LoadedConfig } from "./loaded.ts";

/** Secrets that a command of this machine asked for. Holds values: it goes to that command and nowhere else. */
export interface SecretsForCommand {
  ok: true;
  assignments: Array<{ path: string; pathSegments: string[]; value: string }>;
  /** Paths without a fresh value, and the reasons; contains no value. */
  diagnostics: string[];
  /** References of what is switched off: they were not asked for. */
  inactiveRefPaths: string[];
}

/** A command, and the config paths (`*` = one segment) whose secrets it needs. */
export interface SecretsQuestion {
  commandName: string;
  targetIds: readonly string[];
}

/**
 * The values of the SecretRefs at these paths, as the snapshot in force has them: nobody is asked anew. What stands in the config as text or as a variable
 * is not among them, because a command reads the config itself.
 * @throws {SvcError} `invalid-params` for a path that never holds a secret
 */
export async function secretsForCommand(
  loaded: Pick<LoadedConfig, "source" | "refs" | "secretState">,
  { targetIds }: SecretsQuestion,
  manifests: readonly Manifest[],
): Promise<SecretsForCommand> {
  await warmConfigSchema();
  const hints = Object.entries(composeConfigSchema(manifests).uiHints);
  const sensitive = hints.flatMap(([path, hint]) => (hint.sensitive ? [path] : []));
  const unknown = targetIds.find((target) => !sensitive.some((path) => fits(target, path.split("."))));
  if (unknown !== undefined)
    throw commonErrors.invalidParams({ method: "secrets.resolve", issues: `targetIds: no secret stands at "${unknown}"` });

  const answer: SecretsForCommand = { ok: true, assignments: [], diagnostics: [], inactiveRefPaths: [] };
  const faults = new Map([...loaded.secretState.stale, ...loaded.secretState.unavailable].map(({ path, reason }) => [path, reason]));
  for (const { path } of secretSites(loaded.source)) {
    const pathSegments = path.map(String);
    const dotted = pathSegments.join(".");
    if (!targetIds.some((target) => fits(target, pathSegments))) continue;
    const value = loaded.refs.get(dotted)?.value;
    if (!isActiveSecret(path, loaded.source)) answer.inactiveRefPaths.push(dotted);
    else if (value !== undefined) answer.assignments.push({ path: dotted, pathSegments, value });
    const fault = faults.get(dotted);
    if (fault !== undefined) answer.diagnostics.push(`${dotted}: ${fault}`);
  }
  return answer;
}

/** `*` on either side stands for one segment. */
function fits(target: string, segments: readonly string[]): boolean {
  const wanted = target.split(".");
  return wanted.length === segments.length && wanted.every((part, i) => part === "*" || segments[i] === "*" || part === segments[i]);
}
