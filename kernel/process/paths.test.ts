import { describe, expect, test } from "vitest";
import type { Env } from "../../sdk/types/common.ts";
import { envValue, resolvePaths, resolvePort } from "./paths.ts";

const paths = (env: Env, profile?: string) => resolvePaths({ env: { HOME: "/home/me", ...env }, profile, cwd: "/project" });

describe("the state directory is", () => {
  test.each<[string, Env, string | undefined, string, string]>([
    ["~/.svc by default", {}, undefined, "/home/me/.svc", "default"],
    ["that of the profile", {}, "dev", "/home/me/.svc-dev", "profile"],
    ["that of SVC_PROFILE", { SVC_PROFILE: "lab" }, undefined, "/home/me/.svc-lab", "profile"],
    ["that of the flag rather than SVC_PROFILE", { SVC_PROFILE: "lab" }, "dev", "/home/me/.svc-dev", "profile"],
    ["the plain one for the profile default", { SVC_PROFILE: "lab" }, "default", "/home/me/.svc", "default"],
    ["SVC_STATE_DIR rather than the profile's", { SVC_STATE_DIR: "/data" }, "dev", "/data", "SVC_STATE_DIR"],
    ["expanded from ~", { SVC_STATE_DIR: "~/state" }, undefined, "/home/me/state", "SVC_STATE_DIR"],
    ["the home itself for ~", { SVC_STATE_DIR: "~" }, undefined, "/home/me", "SVC_STATE_DIR"],
    ["relative to the working directory", { SVC_STATE_DIR: "state" }, undefined, "/project/state", "SVC_STATE_DIR"],
    ["below SVC_HOME", { SVC_HOME: "/srv" }, undefined, "/srv/.svc", "default"],
    ["below USERPROFILE without a HOME", { HOME: "", USERPROFILE: "/users/me" }, undefined, "/users/me/.svc", "default"],
    ["not a blank one", { SVC_STATE_DIR: "  ", SVC_HOME: "" }, undefined, "/home/me/.svc", "default"],
    ["not one called undefined or null", { SVC_STATE_DIR: "undefined", SVC_HOME: "null" }, undefined, "/home/me/.svc", "default"],
  ])("%s", (_, env, profile, stateDir, stateDirSource) => {
    expect(paths(env, profile)).toMatchObject({ stateDir, stateDirSource });
  });
});

test.each<[string, Env, string, string]>([
  ["in the state directory", { SVC_STATE_DIR: "/data" }, "/data/svc.json", "state dir"],
  ["where SVC_CONFIG_PATH says", { SVC_CONFIG_PATH: "~/c.json5", SVC_STATE_DIR: "/data" }, "/home/me/c.json5", "SVC_CONFIG_PATH"],
  ["relative to the working directory", { SVC_CONFIG_PATH: "c.json" }, "/project/c.json", "SVC_CONFIG_PATH"],
])("the config file is %s", (_, env, configPath, configPathSource) => {
  expect(paths(env)).toMatchObject({ configPath, configPathSource });
});

describe("a profile name", () => {
  test.each(["a", "0", "lab-2", "a_b", "x".repeat(64)])("may be %s", (name) => {
    expect(paths({}, name).profile).toBe(name);
  });

  test.each(["", "gateway", "node", "Lab", "-a", "_a", "a b", "../up", "a/b", "ä", "x".repeat(65)])("may not be %j", (name) => {
    expect(() => paths({}, name)).toThrow(expect.objectContaining({ code: "invalid-profile", spec: expect.objectContaining({ exit: 2 }) }));
  });

  test("may not be a reserved one in the environment either", () => {
    expect(() => paths({ SVC_PROFILE: "gateway" })).toThrow("reserved");
  });
});

describe("the port is that of", () => {
  test.each([
    ["the flag", { flag: 1, env: { SVC_GATEWAY_PORT: "2" }, config: 3, profile: "dev" }, { port: 1, source: "flag" }],
    ["the environment", { env: { SVC_GATEWAY_PORT: " 2 " }, config: 3, profile: "dev" }, { port: 2, source: "env" }],
    ["the config", { env: {}, config: 3, profile: "dev" }, { port: 3, source: "config" }],
    ["the dev profile", { env: {}, profile: "dev" }, { port: 19_001, source: "default" }],
    ["every other profile", { env: {}, profile: "lab" }, { port: 18_789, source: "default" }],
    ["the config, when the variable is blank", { env: { SVC_GATEWAY_PORT: "" }, config: 3, profile: "" }, { port: 3, source: "config" }],
  ])("%s", (_, options, expected) => {
    expect(resolvePort(options)).toEqual(expected);
  });

  test.each(["x", "1.5", "-1", "65536", "1 2", "0x"])("nobody when SVC_GATEWAY_PORT is %j", (value) => {
    expect(() => resolvePort({ env: { SVC_GATEWAY_PORT: value }, profile: "" })).toThrow(
      `SVC_GATEWAY_PORT: expected an integer from 1 to 65535, got "${value}"`,
    );
  });
});

test("values count without the space around them", () => {
  expect(envValue({ A: " b " }, "A")).toBe("b");
  expect(envValue({}, "A")).toBeUndefined();
});
