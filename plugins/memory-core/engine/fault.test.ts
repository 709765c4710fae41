import { expect, test } from "vitest";
import { IndexFault, reasonOf } from "./fault.ts";

test.each([
  "The module '/x/better_sqlite3.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115.",
  "Could not locate the bindings file. Tried:\n → /x/build/better_sqlite3.node",
])("a database library without a binary is told with its cure", (message) => {
  expect(reasonOf(new Error(message))).toBe("the database library has no binary for this Node version; run: npm rebuild better-sqlite3");
});

test("a reason is one line", () => {
  expect(reasonOf(new Error("disk is full\nat x"))).toBe("disk is full");
  expect(reasonOf("plain")).toBe("plain");
  expect(reasonOf(new IndexFault("memory-index-unusable", { reason: "it is a folder" }))).toBe("it is a folder");
});
