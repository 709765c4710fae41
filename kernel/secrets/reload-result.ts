import type { SecretsReloadResult } from "../../sdk/types/secrets.ts";
import type { SecretFault, SecretState } from "./state.ts";

/** Result of a secrets reload for its caller: owners, never values. */
export function secretsReloadResult({
  secretState,
  warnings,
}: {
  secretState: SecretState;
  warnings: readonly unknown[];
}): SecretsReloadResult {
  const { resolved, changedOwners } = secretState;
  return { ok: true, resolved, warningCount: warnings.length, ...secretHealth(secretState), changedOwners };
}

/** `health.secrets`: owners that run with an old value or with none. */
export function secretHealth({ stale, unavailable }: SecretState): { stale: string[]; unavailable: string[] } {
  return { stale: owners(stale), unavailable: owners(unavailable) };
}

function owners(faults: readonly SecretFault[]): string[] {
  return [...new Set(faults.map((fault) => fault.owner))].sort();
}
