import { describe, expect, test } from "vitest";
import { rootSchema } from "../config/root.ts";
import { type SeedQuestion, seedsOf, withSeeds } from "./seed.ts";

type Gateway = NonNullable<Parameters<typeof rootSchema.parse>[0] & object> & { gateway?: object };
const question = (gateway: object, own: Partial<SeedQuestion> & { exists?: boolean } = {}): SeedQuestion => {
  const { exists = true, ...rest } = own;
  const config = rootSchema.parse({ gateway } satisfies Gateway);
  return {
    loaded: { exists, config } as SeedQuestion["loaded"],
    auth: { mode: "token", secret: "made-up", source: "runtime" },
    loopbackOnly: true,
    port: 18_789,
    ...rest,
  };
};
const local = { mode: "local" };
const origins = ["http://localhost:18789", "http://127.0.0.1:18789"];

describe("seeds", () => {
  test.each([
    ["a token that was made up", question(local), { token: "made-up" }],
    ["nothing when a secret is configured", question(local, { auth: { mode: "token", secret: "s", source: "config" } }), {}],
    ["nothing when the mode needs a password", question(local, { auth: { mode: "password", secret: "s", source: "runtime" } }), {}],
    ["nothing without a config file", question(local, { exists: false }), {}],
    ["nothing while the machine is not said to run a gateway", question({}), {}],
    [
      "origins beyond loopback",
      question(local, { loopbackOnly: false, auth: { mode: "token", secret: "s", source: "env" } }),
      { allowedOrigins: origins },
    ],
    [
      "origins of a port that speaks TLS",
      question({ ...local, tls: { enabled: true, certPath: "c", keyPath: "k" } }, { loopbackOnly: false }),
      { token: "made-up", allowedOrigins: ["https://localhost:18789", "https://127.0.0.1:18789"] },
    ],
    ["no origins while the port is open", question(local, { loopbackOnly: false, port: 0 }), { token: "made-up" }],
    [
      "no origins without a control UI",
      question({ ...local, controlUi: { enabled: false } }, { loopbackOnly: false }),
      { token: "made-up" },
    ],
    [
      "no origins where there are some",
      question({ ...local, controlUi: { allowedOrigins: [] } }, { loopbackOnly: false }),
      { token: "made-up" },
    ],
  ])("are %s", (_, given, seeds) => {
    expect(seedsOf(given)).toEqual(seeds);
  });

  test("stand beside what is there, and the tree they are put into is not changed", () => {
    const source = { gateway: { mode: "local", auth: { rateLimit: {} } }, tools: {} };
    expect(withSeeds(source, { token: "t", allowedOrigins: ["o"] })).toEqual({
      gateway: { mode: "local", auth: { rateLimit: {}, token: "t" }, controlUi: { allowedOrigins: ["o"] } },
      tools: {},
    });
    expect(source).toEqual({ gateway: { mode: "local", auth: { rateLimit: {} } }, tools: {} });
    expect(withSeeds({}, { token: "t" })).toEqual({ gateway: { auth: { token: "t" } } });
  });
});
