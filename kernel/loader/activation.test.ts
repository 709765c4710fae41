import { describe, expect, test } from "vitest";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { createActivation, isLazy } from "./activation.ts";

const manifest = (activation: string[], contributes: Manifest["contributes"]): Manifest => ({
  ...{ id: "lazy", version: "1.0.0", svc: { api: "^1.0.0" }, activation },
  ...(contributes ? { contributes } : {}),
});
const all = {
  rpc: ["lazy.a", "lazy.b"],
  http: ["/lazy"],
  tools: ["t"],
  embeddingAdapters: ["e"],
  modelProviders: ["*"],
  channels: ["c"],
  services: ["s@1"],
  cli: ["lazy run"],
};

describe("a use loads who declares it and says so in activation", () => {
  test.each<[string[], string, string | undefined, boolean]>([
    [["rpc:lazy.*"], "rpc", "lazy.a", true],
    [["rpc:lazy.a"], "rpc", "lazy.b", false],
    [["rpc:lazy.a"], "rpc", undefined, true],
    [["rpc:other.*"], "rpc", "lazy.a", false],
    [["rpc:*"], "tool", "t", false],
    [["http:/lazy"], "http", "/lazy", true],
    [["http:/lazy"], "http", "/lazy/deep/er", true],
    [["http:/lazy"], "http", "/lazybones", false],
    [["tool:t"], "tool", "t", true],
    [["embedding:e"], "embedding", "e", true],
    [["model:*"], "model", "anything", true],
    [["channel:c"], "channel", "c", true],
    [["service:s@1"], "service", "s@1", true],
    [["cli:lazy run"], "cli", "lazy run", true],
    [["nothing:x"], "nothing", "x", false],
  ])("%j and a use of %s %s: %s", (activation, kind, name, loads) => {
    const lazy = createActivation();
    let loaded = 0;
    lazy.add("lazy", manifest(activation, all), async () => void loaded++);
    expect([lazy.use(kind, name) !== undefined, loaded]).toEqual([loads, loads ? 1 : 0]);
  });
});

test("uses at the same time share one load; nobody is loaded after it was removed", async () => {
  const lazy = createActivation();
  let loaded = 0;
  lazy.add("lazy", manifest(["tool:t"], all), async () => void loaded++);
  await Promise.all([lazy.use("tool", "t"), lazy.usePoint("tool", "t"), lazy.useOf("lazy")]);
  expect([loaded, lazy.waitsAt("tool", "t"), lazy.names("tool")]).toEqual([1, true, ["t"]]);
  lazy.remove("lazy");
  expect([lazy.use("tool", "t"), lazy.useOf("lazy"), lazy.waitsAt("tool", "t"), lazy.names("tool")]).toEqual([
    undefined,
    undefined,
    false,
    [],
  ]);
});

test("a point that no kind stands for brings nobody", () => {
  const lazy = createActivation();
  lazy.add("lazy", manifest(["tool:t"], all), async () => undefined);
  expect(lazy.usePoint("thing", "t")).toBeUndefined();
});

test.each<[Manifest["activation"], boolean]>([
  [undefined, false],
  ["startup", false],
  [[], false],
  [["startup", "tool:t"], false],
  [["tool:t"], true],
])("activation %j is lazy: %s", (activation, expected) => {
  expect(isLazy({ ...manifest([], all), ...(activation === undefined ? {} : { activation }) })).toBe(
    activation === undefined ? false : expected,
  );
});
