import { describe, expect, test } from "vitest";
import { rootSchema } from "../config/root-schema.ts";
import { type SeedQuestion, seedsOf, withSeeds } from "./seed.ts";

type Gateway = NonNullable<Parameters<typeof rootSchema.parse>[0] & object> & { gateway?: object };
const question = (gateway: object, own: Partial<SeedQuestion> & { exists?: boolean } = {}): SeedQuestion => {
  const { exists = true, ...rest } = own;
  const config = rootSchema.parse({ gateway } satisfies Gateway);
  return {
    loaded: { exists, config } as SeedQuestion["loaded"],
    auth: { mode: "token", secret: "made-up", source: "runtime" },
    ...rest,
  };
};
const local = { mode: "local" };

describe("seeds", () => {
  test.each([
    ["a token that was made up", question(local), { token: "made-up" }],
    ["nothing when a secret is configured", question(local, { auth: { mode: "token", secret: "s", source: "config" } }), {}],
    ["nothing when the mode needs a password", question(local, { auth: { mode: "password", secret: "s", source: "runtime" } }), {}],
    ["nothing without a config file", question(local, { exists: false }), {}],
    ["nothing while the machine is not said to run a gateway", question({}), {}],
    ["a token and nothing else with a control UI", question({ ...local, bind: "lan" }), { token: "made-up" }],
  ])("are %s", (_, given, seeds) => {
    expect(seedsOf(given)).toEqual(seeds);
  });

  test("stand beside what is there, and the tree they are put into is not changed", () => {
    const source = { gateway: { mode: "local", auth: { rateLimit: {} } }, tools: {} };
    expect(withSeeds(source, { token: "t" })).toEqual({
      gateway: { mode: "local", auth: { rateLimit: {}, token: "t" } },
      tools: {},
    });
    expect(source).toEqual({ gateway: { mode: "local", auth: { rateLimit: {} } }, tools: {} });
    expect(withSeeds({}, { token: "t" })).toEqual({ gateway: { auth: { token: "t" } } });
  });
});
