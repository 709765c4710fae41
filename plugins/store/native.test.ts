import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createError } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { storeErrors } from "./errors.ts";
import { nativeRefusal, openConnection } from "./native.ts";
import { tempStore } from "./testing/temp-store.ts";

function thrownBy(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error("expected it to throw");
}

test("a missing binary is an error that says how to build it", () => {
  const own = createRequire(createRequire(import.meta.url).resolve("better-sqlite3"));
  const bindings = own("bindings") as (options: object) => unknown;

  const refusal = nativeRefusal(thrownBy(() => bindings({ bindings: "no-such-binary.node", module_root: "/nowhere" })));

  expect(refusal).toMatchObject({ code: "store-native-missing" });
  expect(createError(storeErrors, refusal?.code ?? "", refusal?.fields).message).toContain("npm rebuild better-sqlite3");
});

test("a binary that does not load is the same error", async () => {
  const temp = tempStore(onTestFinished);
  const broken = join(temp.dir, "broken.node");
  writeFileSync(broken, "not a library");

  await expect(openConnection(temp.path, { nativeBinding: broken })).rejects.toMatchObject({ code: "store-native-missing" });
});

test("an error of SQLite itself is not taken for a missing binary", async () => {
  const temp = tempStore(onTestFinished);

  await expect(openConnection(temp.dir, {})).rejects.toMatchObject({ name: "SqliteError", code: "SQLITE_CANTOPEN" });
});
