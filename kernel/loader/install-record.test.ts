import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type InstallRecord, installedPluginFolder, installIndexPath, readInstallIndex, writeInstallRecord } from "./install-record.ts";

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-record-"));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const integrity = `sha512-${"A".repeat(86)}==`;
const record: InstallRecord = {
  ...{ version: "1.0.0", integrity, installedAt: "2026-01-02T03:04:05.678Z" },
  source: { kind: "npm", spec: "demo@1.0.0", integrity },
  cli: [{ name: "demo say", description: "Say it", module: "cli/say.ts" }],
};

test("nothing was installed where there is no record", async () => {
  expect(await readInstallIndex(stateDir)).toEqual({ version: 1, plugins: {} });
});

test("records are written one by one, and only the one that is named goes", async () => {
  await writeInstallRecord(stateDir, "one", record);
  await writeInstallRecord(stateDir, "two", { ...record, version: "2.0.0" });
  await writeInstallRecord(stateDir, "one", { ...record, version: "1.1.0" });
  expect(Object.entries((await readInstallIndex(stateDir)).plugins).map(([id, r]) => [id, r.version])).toEqual([
    ["one", "1.1.0"],
    ["two", "2.0.0"],
  ]);
  await writeInstallRecord(stateDir, "one", undefined);
  expect(await readInstallIndex(stateDir)).toEqual({ version: 1, plugins: { two: { ...record, version: "2.0.0" } } });
  expect((await stat(installIndexPath(stateDir))).mode & 0o777).toBe(0o600);
});

test("a name that every object has is not installed for that", async () => {
  expect((await readInstallIndex(stateDir)).plugins.constructor).toBeUndefined();
  await writeInstallRecord(stateDir, "two", record);
  expect((await readInstallIndex(stateDir)).plugins.constructor).toBeUndefined();
  await writeInstallRecord(stateDir, "constructor", record);
  expect((await readInstallIndex(stateDir)).plugins.constructor).toEqual(record);
});

describe("an index is refused that", () => {
  test.each([
    ["is no JSON", "{"],
    ["is of another version", { version: 2, plugins: {} }],
    ["has a record without a hash", { version: 1, plugins: { demo: { ...record, integrity: undefined } } }],
    ["has a hash of another kind", { version: 1, plugins: { demo: { ...record, integrity: "sha1-x" } } }],
    ["names a path as an id", { version: 1, plugins: { "../demo": record } }],
    ["has a key nobody knows", { version: 1, plugins: { demo: { ...record, trusted: true } } }],
  ])("%s", async (_, content) => {
    await mkdir(dirname(installIndexPath(stateDir)), { recursive: true });
    await writeFile(installIndexPath(stateDir), typeof content === "string" ? content : JSON.stringify(content));
    await expect(readInstallIndex(stateDir)).rejects.toMatchObject({ code: "install-index-invalid" });
  });
});

describe("no folder comes of the id", () => {
  test.each(["@x/../../y", "../y", "..", ".", "", "a/b", "a\\b", "A", "a", "C:", "x".repeat(49), "demo\u0000"])("%j", async (id) => {
    expect(() => installedPluginFolder(stateDir, id)).toThrow(expect.objectContaining({ code: "invalid-plugin-id" }));
    await expect(writeInstallRecord(stateDir, id, record)).rejects.toMatchObject({ code: "invalid-plugin-id" });
  });
});

test("the folder of an installed plugin is its id below the plugins of the profile", () => {
  expect(installedPluginFolder("/state", "demo-2")).toBe("/state/plugins/demo-2");
});
