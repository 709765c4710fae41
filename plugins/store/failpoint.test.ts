import { expect, test } from "vitest";
import { createFailpoint } from "./failpoint.ts";

test("without a plan, and for points of others, every visit passes", () => {
  createFailpoint(undefined)("store.before-begin");
  createFailpoint("config.after-rename=kill; store.after-commit=kill@2")("store.after-commit");
});

test("a point that does not exist is an error, so that no test passes by a slip", () => {
  expect(() => createFailpoint("store.before-beginning=kill")).toThrowError(expect.objectContaining({ code: "store-invalid-op" }));
});
