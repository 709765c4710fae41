import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Packages that a file names, itself or through files of this plugin; `lazily`: also where it does so only when it runs. */
function packagesOf(file: string, { lazily }: { lazily: boolean }, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const loaded = [...source.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gms)];
  const later = lazily ? [...source.matchAll(/import\("([^"]+)"\)/g)] : [];
  for (const [, name = ""] of [...loaded, ...later]) {
    if (name.startsWith(".")) packagesOf(join(dirname(file), name), { lazily }, seen);
    else seen.add(name);
  }
  return seen;
}

const packages = (entry: string, how: { lazily: boolean }) =>
  [...packagesOf(join(import.meta.dirname, entry), how)].filter((name) => !name.startsWith("/") && !name.startsWith("node:")).sort();

test("the plugin never names the AWS client: only its thread does, and only with the first call", () => {
  expect(packages("index.ts", { lazily: true })).toEqual(["svc/sdk"]);
  expect(packages("client.worker.ts", { lazily: false })).toEqual([]);
  expect(packages("client.worker.ts", { lazily: true })).toEqual(["@aws-sdk/client-bedrock-runtime"]);
});
