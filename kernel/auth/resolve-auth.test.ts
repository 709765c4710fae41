import { describe, expect, test } from "vitest";
import { rootSchema } from "../config/root-schema.ts";
import { createSecretCheck, resolveAuth } from "./resolve-auth.ts";

const config = (auth: Record<string, unknown>) => rootSchema.parse({ gateway: { auth } });
const both = { token: "config-token", password: "config-password" };
const env = { SVC_GATEWAY_TOKEN: "env-token", SVC_GATEWAY_PASSWORD: "env-password" };

describe("the secret is that of", () => {
  test.each([
    ["the flag", { config: config({ ...both, mode: "token" }), env, flags: { token: "flag-token" } }, "token", "flag-token", "flag"],
    ["the config", { config: config({ token: "config-token" }), env }, "token", "config-token", "config"],
    ["the environment", { config: config({}), env: { SVC_GATEWAY_TOKEN: "env-token" } }, "token", "env-token", "env"],
    ["nobody", { config: config({}), env: {} }, "token", undefined, "none"],
    ["nobody, without a config", { config: undefined, env: {} }, "token", undefined, "none"],
    ["the environment rather than a blank flag", { config: undefined, env, flags: { token: "" } }, "token", "env-token", "env"],
    ["nobody when the variable is blank", { config: undefined, env: { SVC_GATEWAY_TOKEN: " " } }, "token", undefined, "none"],
  ])("%s", (_, options, mode, secret, source) => {
    expect(resolveAuth(options)).toEqual({ mode, secret, source });
  });
});

describe("the mode is", () => {
  test.each([
    ["password when only a password is set", { config: config({ password: "p-assword" }), env: {} }, "password", "p-assword"],
    ["token when both are in the environment", { config: config({}), env }, "token", "env-token"],
    ["what the config says", { config: config({ ...both, mode: "password" }), env }, "password", "config-password"],
    ["what the flag says", { config: config({ ...both, mode: "token" }), env, flags: { auth: "password" } }, "password", "config-password"],
    [
      "none only when somebody says so, and then there is no secret",
      { config: config({ mode: "none", token: "config-token" }), env },
      "none",
      undefined,
    ],
  ])("%s", (_, options, mode, secret) => {
    expect(resolveAuth(options)).toMatchObject({ mode, secret });
  });

  test("never without its own secret: a password does not stand in for a token", () => {
    expect(resolveAuth({ config: config({ mode: "token", password: "p-assword" }), env: {} })).toEqual({
      mode: "token",
      secret: undefined,
      source: "none",
    });
  });
});

test("a secret matches itself only, at whatever length", () => {
  const matches = createSecretCheck("the secret");
  expect(matches("the secret")).toBe(true);
  for (const wrong of ["", "the secre", "the secret ", "the secret\0", "The secret", "x".repeat(1_000_000)])
    expect(matches(wrong)).toBe(false);
  expect(matches("the secret")).toBe(true);

  const long = "ü".repeat(200);
  const matchesLong = createSecretCheck(long);
  expect(matchesLong(long)).toBe(true);
  for (const wrong of [`${long}x`, `${long}\0`, long.slice(1), `${long.slice(1)}u`]) expect(matchesLong(wrong)).toBe(false);
});
