import type { DoctorFinding, Manifest } from "svc/sdk";

/** Ids of the checks that need no plugin: of the commands themselves, and of the kernel's notices. */
const ownChecks = [
  "auth/ambiguous",
  "auth/bind-exposed",
  "auth/hook-token-reuse",
  "auth/missing",
  "auth/weak",
  "boot/crash-loop",
  "boot/unclean-end",
  "clock/jump",
  "config/missing",
  "config/mode-missing",
  "config/not-in-release",
  "config/parse",
  "config/perms",
  "config/schema",
  "config/unknown-keys",
  "config/warning",
  "controlui/origins",
  "disk/free",
  "gateway/problem",
  "gateway/unreachable",
  "lock/stale",
  "logs/size",
  "native/sqlite",
  "native/sqlite-vec",
  "node/version",
  "plugins/config",
  "plugins/load",
  "plugins/missing",
  "plugins/packages",
  "plugins/version",
  "port/conflict",
  "remote/missing",
  "remote/plain-text",
  "secrets/plaintext",
  "secrets/unresolved",
  "service/definition",
  "sessions/corrupt",
  "service/duplicate",
  "service/entry-drift",
  "service/env-secret",
  "service/legacy-unit",
  "service/linger",
  "service/node-missing",
  "service/port-drift",
  "service/system-unit-owner",
  "siblings/port",
  "siblings/workspace",
  "state/leftovers",
  "state/network-fs",
  "state/perms",
  "watch/limits",
] as const;

/** A finding of the commands themselves. */
export type OwnFinding = DoctorFinding & { id: (typeof ownChecks)[number] };

/**
 * Finds the ids that no check has, as `--only` and `--skip` name them. Known are the own checks, what manifests list in `contributes.doctor`, every
 * `plugin/<id>/…` of a plugin that is here, and what was just found. Pure.
 */
export function unknownChecks(
  asked: readonly string[],
  { manifests, found }: { manifests: ReadonlyArray<Pick<Manifest, "id" | "contributes">>; found: readonly DoctorFinding[] },
): { unknown: string[]; known: string[] } {
  const ids = [...ownChecks, ...manifests.flatMap(({ contributes }) => contributes?.doctor ?? []), ...found.map(({ id }) => id)];
  const known = [...new Set<string>(ids)].sort();
  const isOfPlugin = (id: string) => manifests.some((plugin) => id === `plugin/${plugin.id}` || id.startsWith(`plugin/${plugin.id}/`));
  return { unknown: asked.filter((id) => !known.includes(id) && !isOfPlugin(id)), known };
}
