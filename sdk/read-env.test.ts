import { expect, test } from "vitest";
import { readEnv } from "./read-env.ts";

test("a blank variable counts as unset", () => {
  expect([readEnv({ KEY: " \n" }, "KEY"), readEnv({ KEY: " k " }, "KEY"), readEnv({}, "KEY")]).toEqual([undefined, "k", undefined]);
});
