import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CliValues } from "../../sdk/types/cli.ts";
import { acquireStateLock } from "../process/lock.ts";
import { resolvePaths } from "../process/paths.ts";
import { resolveTarget } from "./target.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-target-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const readConfig = async (path: string) => JSON.parse(await readFile(path, "utf8"));

interface Case {
  profile?: string;
  config?: unknown;
  env?: Record<string, string>;
  values?: CliValues;
  runtimeToken?: string;
  lockPort?: number;
}

async function target({ profile, config, env = {}, values = {}, runtimeToken, lockPort }: Case) {
  const paths = resolvePaths({ env: { HOME: home, ...env }, profile });
  await mkdir(join(paths.stateDir, "gateway"), { recursive: true });
  if (config !== undefined) await writeFile(paths.configPath, typeof config === "string" ? config : JSON.stringify(config));
  if (runtimeToken) await writeFile(join(paths.stateDir, "gateway", "runtime-token"), `${runtimeToken}\n`);
  const { configPath, stateDir } = paths;
  const lock = lockPort ? await acquireStateLock({ configPath, stateDir, port: lockPort, version: "1" }) : undefined;
  try {
    return await resolveTarget({ values, env: { HOME: home, ...env }, paths, readConfig });
  } finally {
    await lock?.release();
  }
}

const configured = { gateway: { port: 2000 } };

describe("port: flag, environment, live gateway, config, default", () => {
  it.each([
    [{}, 18_789, "default"],
    [{ profile: "dev" }, 19_001, "default"],
    [{ env: { SVC_PROFILE: "dev" } }, 19_001, "default"],
    [{ config: configured }, 2000, "config"],
    [{ config: configured, lockPort: 3000 }, 3000, "lock"],
    [{ config: configured, lockPort: 3000, env: { SVC_GATEWAY_PORT: "4000" } }, 4000, "env"],
    [{ config: configured, lockPort: 3000, env: { SVC_GATEWAY_PORT: "4000" }, values: { port: 5000 } }, 5000, "flag"],
    [{ config: configured, lockPort: 3000, env: { SVC_GATEWAY_PORT: "0" } }, 3000, "lock"],
    [{ config: configured, env: { SVC_GATEWAY_PORT: " " } }, 2000, "config"],
    [{ config: { gateway: { port: 2000, bind: "nonsense" }, prot: 1 } }, 2000, "config"],
    [{ config: { gateway: "nonsense" } }, 18_789, "default"],
    [{ config: "{ broken" }, 18_789, "default"],
  ] as Array<[Case, number, string]>)("%j → %i (%s)", async (question, port, portSource) => {
    expect(await target(question)).toMatchObject({ url: `ws://127.0.0.1:${port}`, host: "127.0.0.1", port, portSource });
  });
});

describe("secret: flag, config, environment, the running gateway's own", () => {
  const withToken = { gateway: { auth: { token: "from-config" } } };
  const env = { SVC_GATEWAY_TOKEN: "from-env" };
  it.each([
    [{}, { secretSource: "none" }],
    [{ runtimeToken: "made-up" }, { token: "made-up", secretSource: "runtime" }],
    [
      { runtimeToken: "made-up", env },
      { token: "from-env", secretSource: "env" },
    ],
    [
      { config: withToken, env },
      { token: "from-config", secretSource: "config" },
    ],
    [
      { config: withToken, env, values: { token: "from-flag" } },
      { token: "from-flag", secretSource: "flag" },
    ],
    [
      { config: withToken, values: { password: "p" } },
      { password: "p", secretSource: "flag" },
    ],
    [{ config: { gateway: { auth: { mode: "password", password: "pw", token: "t" } } } }, { password: "pw", secretSource: "config" }],
    [{ env: { SVC_GATEWAY_PASSWORD: "pw" } }, { password: "pw", secretSource: "env" }],
    [{ config: { gateway: { auth: { mode: "none" } } }, env }, { secretSource: "none" }],
    [{ config: { gateway: { auth: { mode: "trusted-proxy", password: "pw" } } } }, { password: "pw", secretSource: "config" }],
    [
      { config: { gateway: { auth: { mode: "password" } } }, runtimeToken: "made-up" },
      { password: "made-up", secretSource: "runtime" },
    ],
  ] as Array<[Case, object]>)("%j → %j", async (question, secret) => {
    const { token, password, secretSource } = await target(question);
    expect({ ...(token ? { token } : {}), ...(password ? { password } : {}), secretSource }).toEqual(secret);
  });
});

describe("an address named by hand", () => {
  const everything = {
    config: { gateway: { auth: { token: "from-config" } } },
    env: { SVC_GATEWAY_TOKEN: "from-env" },
    runtimeToken: "made-up",
  };

  it("gets no secret but the one on the command line", async () => {
    const bare = await target({ ...everything, values: { url: "wss://gw.example/" } });
    expect(bare).toEqual({ url: "wss://gw.example", host: "gw.example", port: 443, portSource: "flag", secretSource: "none" });
    const given = await target({ ...everything, values: { url: "ws://gw.example:81", token: "t" } });
    expect(given).toEqual({
      url: "ws://gw.example:81",
      host: "gw.example",
      port: 81,
      portSource: "flag",
      token: "t",
      secretSource: "flag",
    });
  });

  it("in the environment gets the environment's secret, never the config's", async () => {
    const env = { ...everything.env, SVC_GATEWAY_URL: "ws://gw.example:81" };
    expect(await target({ ...everything, env })).toMatchObject({ portSource: "env", token: "from-env", secretSource: "env" });
    const alone = await target({ ...everything, env: { SVC_GATEWAY_URL: "ws://gw.example:81" } });
    expect(alone).toMatchObject({ secretSource: "none" });
    expect(await target({ ...everything, env, values: { port: 5000 } })).toMatchObject({
      url: "ws://127.0.0.1:5000",
      token: "from-config",
    });
  });

  it.each(["http://gw.example", "gw.example", "ws://"])("%s is refused", async (url) => {
    await expect(target({ values: { url } })).rejects.toMatchObject({ code: "usage" });
  });
});
