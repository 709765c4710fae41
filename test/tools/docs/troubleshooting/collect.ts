import type { Manifest } from "../../../../sdk/types/manifest.ts";
import { isProductCode, isTest, readRepositoryFile, readRepositoryFiles } from "../../source/tree.ts";
import { type Said, saidIn } from "./said.ts";

/** Ids of every check that svc and its bundled plugins list. */
export function checkIds(manifests: ReadonlyArray<Pick<Manifest, "contributes">>): Set<string> {
  const own = readRepositoryFile("plugins/operator/doctor/checks.ts").matchAll(/^ {2}"([a-z0-9-]+\/[a-z0-9-]+)",$/gm);
  return new Set([...[...own].map(([, id = ""]) => id), ...manifests.flatMap(({ contributes }) => contributes?.doctor ?? [])]);
}

/** Reads the words of the checks from the sources. */
export function collectSaid(ids: ReadonlySet<string>): Map<string, Said> {
  const all = new Map<string, Said>();
  for (const [, source] of checkSources()) {
    for (const [id, said] of saidIn(source, ids)) if (all.get(id)?.message === undefined) all.set(id, said);
  }
  return all;
}

/** Product code that may hold a check. Repairs have the same ids, and say what was done. */
export function checkSources(): Map<string, string> {
  return readRepositoryFiles((path) => isProductCode(path) && path.endsWith(".ts") && !isTest(path) && !path.endsWith("/fixes.ts"));
}
