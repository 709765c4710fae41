import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { unknownChecks } from "./checks.ts";

const manifests = [{ id: "acme", contributes: { doctor: ["acme/account"] } }, { id: "plain" }];
const unknown = (id: string, found: string[] = []) =>
  unknownChecks([id], { manifests, found: found.map((one) => ({ id: one, severity: "info", message: "m" })) }).unknown;

describe("a check is known", () => {
  test.each(["config/perms", "boot/crash-loop", "acme/account", "plugin/acme", "plugin/plain/key"])("%s", (id) => {
    expect(unknown(id)).toEqual([]);
  });

  test("when it was just found", () => expect(unknown("odd/one", ["odd/one"])).toEqual([]));
});

test.each(["config/permz", "config", "", "acme", "plugin/gone", "plugin/acmeish/key"])("no check is called %j", (id) => {
  expect(unknown(id)).toEqual([id]);
});

test("the known ones are listed in order, each once", () => {
  const { known } = unknownChecks([], { manifests, found: [{ id: "auth/weak", severity: "info", message: "m" }] });
  expect(known).toContain("acme/account");
  expect(known).toEqual([...new Set(known)].sort());
});

/** Texts that look like the id of a finding, in the code of a plugin that reports some. */
async function reportedIds(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.flatMap((text) =>
    [...text.matchAll(/(?:\bid: |reportSkippedProviders\(.*, )"([a-z-]+\/[a-z-]+)"/g)].map(([, id]) => id as string),
  );
}

test.each([
  ...["agents", "memory-core", "store", "webhooks"],
  ...["anthropic", "bedrock", "google", "local", "openai-compatible"].map((id) => `model-${id}`),
])("the manifest of %s lists every finding", async (id) => {
  const folder = join(import.meta.dirname, "../..", id);
  const { contributes } = JSON.parse(await readFile(join(folder, "svc.plugin.json"), "utf8")) as Manifest;
  expect(contributes?.doctor).toEqual([...new Set(await reportedIds(folder))].sort());
});
