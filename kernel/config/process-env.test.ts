import { afterEach, expect, test } from "vitest";
import { exportEnv } from "./process-env.ts";

const names = ["EXPORTED_A", "EXPORTED_B", "EXPORTED_C"] as const;
afterEach(() => {
  for (const name of names) delete process.env[name];
});

test("the process gets what it lacks, keeps what it has, and gives back what is still the same", () => {
  process.env.EXPORTED_A = "mine";
  const takeBack = exportEnv({ EXPORTED_A: "other", EXPORTED_B: "b", EXPORTED_C: "c", EXPORTED_D: undefined });
  expect(names.map((name) => process.env[name])).toEqual(["mine", "b", "c"]);
  expect("EXPORTED_D" in process.env).toBe(false);

  process.env.EXPORTED_C = "changed by somebody";
  takeBack();
  expect(names.map((name) => process.env[name])).toEqual(["mine", undefined, "changed by somebody"]);
});

test("an empty variable is set and stays", () => {
  process.env.EXPORTED_A = "";
  exportEnv({ EXPORTED_A: "other" })();
  expect(process.env.EXPORTED_A).toBe("");
});
