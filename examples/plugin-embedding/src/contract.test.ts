import { join } from "node:path";
import { embeddingContract, pluginContract } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { createHashingAdapter, embed } from "./hashing.ts";

describe("the plugin", () => {
  pluginContract(join(import.meta.dirname, ".."));
});

describe("the adapter", () => {
  embeddingContract(createHashingAdapter());
});

describe("a vector", () => {
  const likeness = (a: string, b: string) => embed(a, 512).reduce((sum, value, i) => sum + value * (embed(b, 512)[i] as number), 0);

  test("is nearer to a text that shares words or parts of them", () => {
    expect(likeness("boiler pressure", "the pressure of the boiler")).toBeGreaterThan(0.5);
    expect(likeness("bicycles", "bicycle")).toBeGreaterThan(likeness("bicycles", "boiler") + 0.2);
  });

  test("is the same however a text is written down", () => {
    expect(embed("Ｃafé", 64)).toEqual(embed("CAFÉ".normalize("NFD"), 64));
  });
});
