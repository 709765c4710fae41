import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nativeReason, probeNative } from "./native.ts";

const { signal } = new AbortController();

test("what is installed here works", async () => {
  expect(await probeNative(join(import.meta.dirname, "../../.."), signal)).toEqual([
    { package: "better-sqlite3" },
    { package: "sqlite-vec" },
  ]);
});

test("where it is not installed, that is said, and the extension is not asked", async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-native-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "package.json"), "{}");
  const found = await probeNative(dir, signal);
  expect(found).toMatchObject([{ package: "better-sqlite3", fault: expect.stringContaining("Cannot find module") }]);
  expect(nativeReason(found[0]?.fault ?? "")).toBe("it has no binary for this system");
});

test.each([
  [
    "The module 'a.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115. This version of Node.js requires\nNODE_MODULE_VERSION 127. Please try",
    "its binary is for Node ABI 115, this Node has ABI 127",
  ],
  ["Could not locate the bindings file. Tried:\n a", "it has no binary for this system"],
  ["libc.so.6: version `GLIBC_2.38' not found\nmore", "libc.so.6: version `GLIBC_2.38' not found"],
])("%j is explained", (fault, reason) => expect(nativeReason(fault)).toBe(reason));
