import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway } from "../../kernel/boot/gateway.ts";
import type { Gateway, GatewayOptions } from "../../kernel/boot/running-gateway.ts";
import { createLogger, type LogRecord } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import { createClient } from "../../sdk/client/index.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { Env } from "../../sdk/types/common.ts";

let root: string;
let logs: LogRecord[];
const gateways: Gateway[] = [];
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "svc-config-start-")));
  logs = [];
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close("test over");
  await rm(root, { recursive: true, force: true });
});

const configPath = () => join(root, "svc.json");
const text = () => readFile(configPath(), "utf8");

/** A gateway without plugins, listening but not necessarily ready. */
async function listen(config: string | object | undefined, own: Partial<GatewayOptions> & { env?: Env } = {}): Promise<Gateway> {
  if (config !== undefined) await writeFile(configPath(), typeof config === "string" ? config : JSON.stringify(config), { mode: 0o600 });
  const env: Env = { SVC_GATEWAY_PORT: "0", HOME: root, ...own.env, SVC_STATE_DIR: root };
  const logger = createLogger([(record) => logs.push(record)]);
  const gateway = await createGateway({ only: [], version: "1.0.0", lockWaitMs: 100, logger, ...own, paths: resolvePaths({ env }), env });
  gateways.push(gateway);
  return gateway;
}
async function start(...given: Parameters<typeof listen>): Promise<Gateway> {
  const gateway = await listen(...given);
  await gateway.ready;
  return gateway;
}
const status = async (gateway: Gateway, path: string, headers: Record<string, string> = {}) =>
  (await fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers })).status;
const ref = (id: string) => ({ source: "env", id });
const local = (auth: object, rest: object = {}) => ({ gateway: { mode: "local", auth }, ...rest });
const logged = () => JSON.stringify(logs);

describe("a start is refused with 78 while a secret that decides about callers has no value", () => {
  test.each([
    ["a token from a variable", local({ token: "${GW_TOKEN}" }), "gateway.auth.token: variable GW_TOKEN is not set"],
    ["a token by reference", local({ token: ref("GW_TOKEN") }), "gateway.auth.token: variable GW_TOKEN is not set"],
    [
      "a password of a named mode",
      local({ mode: "password", password: "${GW_PASS}" }),
      "gateway.auth.password: variable GW_PASS is not set",
    ],
    ["one of two", local({ token: "${GW_TOKEN}", password: "set" }), "gateway.auth.token: variable GW_TOKEN is not set"],
    [
      "a hook token",
      local({ token: "the-token" }, { hooks: { enabled: true, token: ref("HOOK") } }),
      "hooks.token: variable HOOK is not set",
    ],
    [
      "an allow-list that would otherwise let in everybody",
      local({ token: "the-token", trustedProxy: { allowUsers: ["${ADMIN}"] } }),
      "gateway.auth.trustedProxy.allowUsers.0: variable ADMIN is not set",
    ],
  ])("%s", async (_, config, why) => {
    const env = { SVC_GATEWAY_TOKEN: "another-token", SVC_GATEWAY_PASSWORD: "another-password" };
    const message = `${why}; set it where the gateway is started, or change the config`;
    await expect(start(config, { env })).rejects.toMatchObject({ code: "secret-unresolved", message, spec: { exit: 78 } });

    expect(JSON.parse(await readFile(join(root, "gateway", "last-refusal.json"), "utf8"))).toMatchObject({
      code: "secret-unresolved",
      message,
    });
    expect(await readdir(join(root, "gateway"))).toEqual(["last-refusal.json"]);
    expect(JSON.parse(await text())).toEqual(config);
  });

  test.each([
    ["of the other mode", local({ mode: "token", token: "the-token", password: "${GW_PASS}" }), {}],
    ["of hooks that are off", local({ token: "the-token" }, { hooks: { token: ref("HOOK") } }), {}],
    ["that a flag replaces", local({ token: "${GW_TOKEN}" }), { flags: { token: "flag-token" } }],
  ])("but not for one %s", async (_, config, own) => {
    expect(await status(await start(config, own), "/healthz")).toBe(200);
  });
});

describe("what else has no secret", () => {
  test("is named in the log and in health, and the rest starts", async () => {
    const gateway = await start(local({ token: ref("T") }, { models: { providers: { acme: { apiKey: ref("ACME_KEY") } } } }), {
      env: { T: "the-token" },
    });
    expect(await status(gateway, "/readyz")).toBe(200);
    expect(logs.map(({ message }) => message)).toContain(
      "config: models.providers.acme.apiKey: secret not available: variable ACME_KEY is not set",
    );
  });

  test("a variable without a value is named in the log, once", async () => {
    await start(
      local({ token: "the-token" }, { models: { providers: { acme: { apiKey: "k-123456", baseUrl: "https://${HOST_NAME}" } } } }),
    );
    const told = logs.filter(({ message }) => message.includes("HOST_NAME")).map(({ level, message }) => `${level} ${message}`);
    expect(told).toEqual(["warn config: models.providers.acme.baseUrl: variable HOST_NAME is not set; the key is left out"]);
  });

  test("a resolved value never gets into the log", async () => {
    const gateway = await start(local({ token: ref("T") }, { models: { providers: { acme: { apiKey: ref("K") } } } }), {
      env: { T: "gateway-secret-1", K: "provider-secret-2" },
    });
    expect(gateway.plan.loaded.secrets.get("gateway.auth.token")).toBe("gateway-secret-1");
    await gateway.close("test over");
    expect(logged()).not.toMatch(/gateway-secret-1|provider-secret-2/);
  });
});

test("secrets that only plugins need are asked for while the port listens already", async () => {
  const command = join(root, "vault");
  const go = join(root, "go");
  await writeFile(
    command,
    `#!${process.execPath}
const { existsSync } = require("fs");
const wait = setInterval(() => {
  if (!existsSync(${JSON.stringify(go)})) return;
  clearInterval(wait);
  console.log(JSON.stringify({ protocolVersion: 1, values: { key: "slow-secret" } }));
}, 20);\n`,
    { mode: 0o700 },
  );
  const secrets = { providers: { vault: { source: "exec", command, timeoutMs: 60_000 } } };
  const config = local(
    { token: "the-token" },
    { secrets, models: { providers: { acme: { apiKey: { source: "exec", provider: "vault", id: "key" } } } } },
  );

  const gateway = await listen(config);
  expect(await status(gateway, "/healthz")).toBe(200);
  expect(await status(gateway, "/readyz")).toBe(503);

  await writeFile(go, "");
  await gateway.ready;
  expect(await status(gateway, "/readyz")).toBe(200);
});

test("a stop ends a program that is still asked for a secret", async () => {
  const command = join(root, "vault");
  const pidFile = join(root, "pid");
  await writeFile(
    command,
    `#!${process.execPath}\nrequire("fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6);\n`,
    { mode: 0o700 },
  );
  const secrets = { providers: { vault: { source: "exec", command, timeoutMs: 600_000 } } };
  const key = { source: "exec", provider: "vault", id: "key" };
  const gateway = await listen(local({ token: "the-token" }, { secrets, models: { providers: { acme: { apiKey: key } } } }));
  const pid = await eventually(async () => Number(await readFile(pidFile, "utf8")) || undefined);

  await gateway.close("test over");

  await eventually(() => {
    expect(() => process.kill(pid, 0)).toThrow();
    return true;
  });
});

describe("the first start of a gateway without a secret", () => {
  const authored = "{\n  // my gateway\n  gateway: { mode: 'local' }, // here\n}\n";

  test("writes a new token into the config, keeps the rest as it is, and says where but not what", async () => {
    const gateway = await start(authored);
    const { secret } = gateway.plan.auth;
    expect(gateway.plan.auth).toEqual({ mode: "token", secret: expect.stringMatching(/^[\w-]{43}$/), source: "config" });

    const written = await text();
    expect(written).toContain("// my gateway");
    expect(written).toContain("// here");
    expect(written).toContain(secret);
    expect((await stat(configPath())).mode & 0o777).toBe(0o600);
    expect(await readdir(join(root, "gateway"))).not.toContain("runtime-token");
    expect(await readFile(`${configPath()}.bak`, "utf8")).toBe(authored);
    expect(logs.map(({ message }) => message)).toContain(`first start: wrote gateway.auth.token to ${configPath()}`);
    expect(logged()).not.toContain(secret);
    expect(await status(gateway, "/v1/models", { authorization: `Bearer ${secret}` })).not.toBe(401);
  });

  test("is the only one that writes", async () => {
    const first = await start(authored);
    await first.close("test over");
    const written = await text();
    const second = await start(undefined);
    expect(second.plan.auth).toEqual(first.plan.auth);
    expect(await text()).toBe(written);
  });

  test("holds the token for this run when the config may not be written", async () => {
    const gateway = await start(authored, { env: { SVC_CONFIG_READONLY: "1" } });
    expect(gateway.plan.auth.source).toBe("runtime");
    expect(await readFile(join(root, "gateway", "runtime-token"), "utf8")).toBe(gateway.plan.auth.secret);
    expect(await text()).toBe(authored);
    expect(logs.find(({ message }) => message.startsWith("first start:"))?.message).toMatch(/holds for this run only.*SVC_CONFIG_READONLY/);
  });

  test.each([
    ["a token in the environment", "{ gateway: { mode: 'local' } }", { env: { SVC_GATEWAY_TOKEN: "env-token" } }],
    ["a flag", "{ gateway: { mode: 'local' } }", { flags: { token: "flag-token" } }],
    ["a password", "{ gateway: { mode: 'local', auth: { password: 'pass-word' } } }", {}],
    ["mode none", "{ gateway: { mode: 'local', auth: { mode: 'none' } } }", {}],
    ["--allow-unconfigured", "{ gateway: { mode: 'local' } }", { flags: { allowUnconfigured: true } }],
  ])("writes nothing with %s", async (_, config, own) => {
    await start(config, own);
    expect(await text()).toBe(config);
  });
});

describe("a first start beyond loopback", () => {
  const freePort = async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };

  /** Whether a page of this origin, reached through another name of the gateway, gets a greeting. */
  const opens = async (port: number, origin: string): Promise<boolean> => {
    const client = createClient({
      ...{ url: `ws://127.0.0.1:${port}`, auth: { token: "the-token" }, headers: { origin } },
      client: { id: "svc-control-ui", version: "1", platform: "web", mode: "ui" },
      reconnect: false,
    });
    const isOpen = await client.connect().then(
      () => true,
      () => false,
    );
    await client.close();
    return isOpen;
  };

  test("lets the gateway's own page in on the port in use, also after the port changed, and writes no origins", async () => {
    const config = "{ gateway: { mode: 'local', bind: 'lan', auth: { token: 'the-token' } } }";
    const first = await freePort();
    const gateway = await start(config, { flags: { port: first } });
    expect(await opens(first, `http://localhost:${first}`)).toBe(true);
    await gateway.close("test over");

    const second = await freePort();
    await start(undefined, { flags: { port: second } });
    expect(await opens(second, `http://localhost:${second}`)).toBe(true);
    expect(await opens(second, `http://localhost:${first}`)).toBe(false);
    expect(await text()).toBe(config);
  });

  test("follows the port too where an earlier release wrote the origins down", async () => {
    const [old, port] = [await freePort(), await freePort()];
    const allowedOrigins = JSON.stringify([`http://localhost:${old}`, `http://127.0.0.1:${old}`]);
    await start(
      `{ gateway: { mode: 'local', bind: 'lan', auth: { token: 'the-token' }, controlUi: { allowedOrigins: ${allowedOrigins} } } }`,
      {
        flags: { port },
      },
    );
    expect(await opens(port, `http://localhost:${port}`)).toBe(true);
  });

  test("leaves origins alone that somebody wrote, also an empty list", async () => {
    const config = "{ gateway: { mode: 'local', bind: 'lan', auth: { token: 'the-token' }, controlUi: { allowedOrigins: [] } } }";
    await start(config, { flags: { port: await freePort() } });
    expect(await text()).toBe(config);
  });

  test("is refused without a secret, and writes none", async () => {
    const config = "{ gateway: { mode: 'local', bind: 'lan' } }";
    await expect(start(config)).rejects.toMatchObject({ code: "bind-without-auth" });
    expect(await text()).toBe(config);
  });
});

describe("a damaged config names the newest copy", () => {
  const copies = async () => {
    await writeFile(`${configPath()}.bak`, "{}");
    await writeFile(`${configPath()}.bak.1`, "");
    await writeFile(`${configPath()}.last-good`, "{}");
    const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);
    await utimes(`${configPath()}.bak`, at(1), at(1));
    await utimes(`${configPath()}.last-good`, at(2), at(2));
    await utimes(`${configPath()}.bak.1`, at(3), at(3));
  };

  test("when gateway.mode is gone", async () => {
    await copies();
    const reason = `key missing: the file may be damaged; newest backup ${configPath()}.last-good`;
    await expect(start({})).rejects.toMatchObject({
      code: "start-blocked",
      message: `Gateway start blocked: set gateway.mode=local (${reason})`,
    });
  });

  test.each([
    ["when it does not parse", "{ gateway: { mode: 'lo", "invalid end of input"],
    ["when it is empty", "", "invalid end of input"],
    ["when it is not valid", "{ gateway: { mode: 'lokal' } }", "expected one of local, remote"],
  ])("%s; it stays as it is", async (_, config, why) => {
    await copies();
    const refused = start(config);
    await expect(refused).rejects.toMatchObject({ code: "invalid-config", spec: { exit: 78 } });
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow(`newest backup: ${configPath()}.last-good`);
    expect(await text()).toBe(config);
  });
});

test("variables of the config are the process's while the gateway runs, for the plugins that read them there", async () => {
  const seen: Env[] = [];
  let isTakenBack = false;
  const exportEnv = (env: Env) => {
    seen.push(env);
    return () => {
      isTakenBack = true;
    };
  };
  const gateway = await start(local({ token: "the-token" }, { env: { vars: { ACME_REGION: "north" } } }), { exportEnv });
  expect(seen[0]).toMatchObject({ ACME_REGION: "north" });
  expect(isTakenBack).toBe(false);
  await gateway.close("test over");
  await eventually(() => expect(isTakenBack).toBe(true));
});

test("includes and variables decide about port and bind as if they stood in the file", async () => {
  await mkdir(join(root, "parts"));
  await writeFile(join(root, "parts", "gateway.json"), '{ mode: "local", auth: { token: "${T}" } }');
  const gateway = await start("{ gateway: { $include: './parts/gateway.json' } }", { env: { T: "included-token" } });
  expect(gateway.plan.auth).toEqual({ mode: "token", secret: "included-token", source: "config" });
});
