import { expect, test } from "vitest";
import { createFailpoint, deliveryFailpoints } from "./failpoint.ts";

test("without a plan, and for points of others, every visit passes", () => {
  createFailpoint(undefined)("store.before-begin");
  createFailpoint("config.after-rename=kill; store.after-commit=kill@2")("store.after-commit");
});

test("each operation on deliveries has a point at each of its moments", () => {
  expect(deliveryFailpoints).toHaveLength(25);
  createFailpoint("delivery.accept.after-commit=kill@2")("delivery.accept.after-commit");
});

test("a point that does not exist is an error, so that no test passes by a slip", () => {
  for (const name of ["store.before-beginning", "delivery.after-commit"]) {
    expect(() => createFailpoint(`${name}=kill`)).toThrowError(expect.objectContaining({ code: "store-invalid-op" }));
  }
});
