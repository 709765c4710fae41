import type { InstallRecord } from "svc/sdk";

/** Where something was or is to be installed from. */
type Source = Pick<InstallRecord, "version"> & { source: Pick<InstallRecord["source"], "kind" | "spec"> };

/**
 * Is it the same package in another version? For npm the name counts, for folders and archives the path, but for the version in it: another package
 * of the same plugin id may be somebody else's.
 */
export function isSamePackage(before: Source, now: Source): boolean {
  return before.source.kind === now.source.kind && withoutVersion(before) === withoutVersion(now);
}

function withoutVersion({ version, source: { kind, spec } }: Source): string {
  return kind === "npm" ? spec.slice(0, spec.lastIndexOf("@")) : spec.replaceAll(version, "*");
}
