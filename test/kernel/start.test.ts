import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway } from "../../kernel/boot/gateway.ts";
import type { Gateway, GatewayOptions } from "../../kernel/boot/running-gateway.ts";
import { configLockPath } from "../../kernel/process/lock.ts";
import { createLogger, type LogRecord } from "../../kernel/process/logger.ts";
import { resolvePaths } from "../../kernel/process/paths.ts";
import type { Env } from "../../sdk/types/common.ts";

let root: string;
let logs: LogRecord[];
const gateways: Gateway[] = [];
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-start-"));
  logs = [];
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close("test over");
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true, force: true });
});

interface StartOptions extends Partial<GatewayOptions> {
  state?: string;
  config?: string | object;
}

/** A gateway without plugins on a state directory of this test. */
async function start({ state = "state", config, env = {}, ...rest }: StartOptions = {}): Promise<Gateway> {
  const stateDir = join(root, state);
  if (config !== undefined) {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const text = typeof config === "string" ? config : JSON.stringify(config);
    await writeFile(join(stateDir, "svc.json"), text, { mode: 0o600 });
  }
  const full: Env = { SVC_GATEWAY_PORT: "0", HOME: root, ...env, SVC_STATE_DIR: stateDir };
  const gateway = await createGateway({
    paths: resolvePaths({ env: full }),
    env: full,
    version: "1.0.0",
    logger: createLogger([(record) => logs.push(record)]),
    lockWaitMs: 100,
    only: [],
    ...rest,
  });
  gateways.push(gateway);
  await gateway.ready;
  return gateway;
}
const local = { gateway: { mode: "local", auth: { token: "the-token" } } };
const path = (...parts: string[]) => join(root, ...parts);
const refusal = async (state = "state") => JSON.parse(await readFile(path(state, "gateway", "last-refusal.json"), "utf8"));
const live = async (gateway: Gateway) => (await fetch(`http://127.0.0.1:${gateway.port}/healthz`)).status;

async function occupy(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

describe("without a word that this machine runs a gateway the start is blocked", () => {
  test.each([
    ["no config file", undefined, (): string => `no config at ${path("state", "svc.json")}`],
    ["no gateway.mode", {}, (): string => "key missing: the file may be damaged"],
    ["gateway.mode remote", { gateway: { mode: "remote" } }, (): string => "current: remote"],
  ])("%s", async (_, config, why) => {
    const message = `Gateway start blocked: set gateway.mode=local (${why()})`;
    await expect(start(config === undefined ? {} : { config })).rejects.toMatchObject({
      code: "start-blocked",
      message,
      spec: { exit: 78 },
    });
    expect(await refusal()).toEqual({ ts: expect.any(Number), code: "start-blocked", message });
    expect(await readdir(path("state", "gateway"))).toEqual(["last-refusal.json"]);

    const forced = await start({ flags: { allowUnconfigured: true } });
    expect(await live(forced)).toBe(200);
  });
});

test("a gateway without a secret makes one for this run, leaves it to local commands only, and takes it along when it stops", async () => {
  const gateway = await start({ config: {}, flags: { allowUnconfigured: true } });
  const file = path("state", "gateway", "runtime-token");
  const token = await readFile(file, "utf8");
  expect(token).toMatch(/^[\w-]{43}$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(gateway.plan.auth).toEqual({ mode: "token", secret: token, source: "runtime" });
  expect(JSON.stringify(logs)).not.toContain(token);

  await gateway.close("test over");

  expect(await readdir(path("state", "gateway"))).toEqual(["boots.json"]);
  expect(await readFile(path("state", "svc.json"), "utf8")).toBe("{}");
});

test("a config that is not valid is refused with every issue at its place", async () => {
  const config = '{\n  gateway: {\n    mode: "local",\n    prot: 1,\n    bind: "0.0.0.0" } }';
  await expect(start({ config })).rejects.toMatchObject({ code: "invalid-config", spec: { exit: 78 } });
  const { message } = await refusal();
  expect(message.split("\n")).toEqual([
    `${path("state", "svc.json")} is not valid`,
    'svc.json:4:5  gateway.prot: unknown key "prot"',
    '  hint: did you mean "port"?',
    'svc.json:5:11  gateway.bind: expected one of loopback, lan, tailnet, auto, custom, got "0.0.0.0"',
    '  hint: 0.0.0.0 is bind mode "lan"',
  ]);
});

test.each([99_999, -1, 1.5])("a port that is none is a config error, not a crash of the port check: %s", async (port) => {
  await expect(start({ config: { gateway: { mode: "local", port } }, env: { SVC_GATEWAY_PORT: undefined } })).rejects.toMatchObject({
    code: "invalid-config",
    message: expect.stringContaining("gateway.port: expected"),
  });
});

describe("off loopback a gateway without auth is refused, with the setting that its mode lacks", () => {
  const lan = (auth: object) => ({ gateway: { mode: "local", bind: "lan", auth } });
  const token = "set gateway.auth.token";
  const mode = "set gateway.auth.mode to token or password (none is for loopback)";

  test.each([
    ["no secret, bind lan", lan({}), {}, "0.0.0.0", token],
    ["no secret, bind lan by flag", { gateway: { mode: "local" } }, { bind: "lan" as const }, "0.0.0.0", token],
    ["mode none, bind lan", lan({ mode: "none" }), {}, "0.0.0.0", mode],
    ["mode password, no secret", lan({ mode: "password" }), {}, "0.0.0.0", "set gateway.auth.password"],
    ["mode password by flag, a token", lan({ token: "t-oken" }), { auth: "password" }, "0.0.0.0", "set gateway.auth.password"],
    ["no secret, an own address", { gateway: { mode: "local", bind: "custom", customBindHost: "192.0.2.1" } }, {}, "192.0.2.1", token],
    ["a password where a token is asked for", lan({ mode: "token", password: "p-assword" }), {}, "0.0.0.0", token],
  ])("%s", async (_, config, flags, host, advice) => {
    await expect(start({ config, flags, env: { SVC_GATEWAY_PORT: "4711" } })).rejects.toMatchObject({
      code: "bind-without-auth",
      message: `refusing to bind gateway to ${host}:4711 without auth; ${advice} or use bind loopback`,
      spec: { exit: 78 },
    });
    await expect(start({ config, flags: { ...flags, allowUnconfigured: true } })).rejects.toMatchObject({ code: "bind-without-auth" });
  });

  test("and one with a token starts", async () => {
    const gateway = await start({ config: { gateway: { ...local.gateway, bind: "lan" } } });
    expect([gateway.host, await live(gateway)]).toEqual(["0.0.0.0", 200]);
  });
});

describe("a config file that another gateway runs with", () => {
  const shared = () => ({ SVC_CONFIG_PATH: path("link.json") });

  test("refuses a second gateway on a state directory of its own, by whatever name it reaches the file, until the first one stops", async () => {
    const first = await start({ config: local });
    await symlink(path("state", "svc.json"), path("link.json"));
    await expect(start({ state: "other", env: shared() })).rejects.toMatchObject({
      code: "config-lock-held",
      message: expect.stringContaining(`(pid ${process.pid}, state directory ${path("state")}): ${path("link.json")}`),
      spec: { exit: 78 },
    });
    expect(await live(first)).toBe(200);
    expect(await readdir(path("other", "gateway"))).toEqual(["last-refusal.json"]);

    await first.close("test over");
    expect(await readdir(path("state"))).not.toContainEqual(expect.stringMatching(/\.lock$/));
    expect(await live(await start({ state: "other", env: shared() }))).toBe(200);
  });

  test("refuses nobody when its owner is gone, nor a command that only reads", async () => {
    const lock = await configLockPath(path("state", "svc.json"));
    await mkdir(path("state"), { recursive: true });
    await writeFile(lock, JSON.stringify({ pid: process.pid, startTime: "1", createdAt: 1 }));
    const gateway = await start({ config: local });
    expect(JSON.parse(await readFile(lock, "utf8"))).toMatchObject({ pid: process.pid, port: gateway.port });
    await start({ state: "other", env: { SVC_CONFIG_PATH: path("state", "svc.json") }, listen: false });
  });
});

describe("a port that is taken", () => {
  test("by a gateway is told so, and that one goes on undisturbed", async () => {
    const first = await start({ config: local });
    await expect(start({ state: "other", config: local, env: { SVC_GATEWAY_PORT: String(first.port) } })).rejects.toMatchObject({
      code: "already-listening",
      message: expect.stringMatching(`^another gateway instance is already listening on ws://127.0.0.1:${first.port}; `),
      spec: { exit: 78 },
    });
    expect((await refusal("other")).code).toBe("already-listening");
    expect(await live(first)).toBe(200);
  });

  test("by another program says EADDRINUSE, may be retried, and leaves neither lock nor token", async () => {
    const port = await occupy(createServer((socket) => socket.destroy()));
    await expect(start({ flags: { allowUnconfigured: true, port } })).rejects.toMatchObject({
      code: "port-taken",
      message: expect.stringMatching(new RegExp(`^port ${port} is in use: EADDRINUSE`)),
      spec: { exit: 1 },
    });
    expect(await readdir(path("state", "gateway"))).toEqual(["last-refusal.json"]);
  });

  test.each([
    ["says nothing", () => createServer(() => undefined)],
    [
      "never stops talking",
      () =>
        createHttpServer((_, res) => {
          const drip = setInterval(() => res.write("x"), 50);
          res.on("close", () => clearInterval(drip));
        }),
    ],
  ])(
    "by a program that %s holds the start up no longer than a moment",
    async (_, make) => {
      const port = await occupy(make());
      await expect(start({ config: local, flags: { port } })).rejects.toMatchObject({ code: "port-taken" });
    },
    5_000,
  );

  test("is freed by force only when nothing else refuses the start", async () => {
    const asked: Array<[string, number]> = [];
    const takePort = async (host: string, port: number) => void asked.push([host, port]);
    const env = { SVC_GATEWAY_PORT: "4711" };
    await expect(start({ config: { gateway: { mode: "local", x: 1 } }, takePort, env })).rejects.toMatchObject({ code: "invalid-config" });
    await expect(start({ config: { gateway: { mode: "remote" } }, takePort, env })).rejects.toMatchObject({ code: "start-blocked" });
    await expect(start({ config: { gateway: { mode: "local", bind: "lan" } }, takePort, env })).rejects.toMatchObject({
      code: "bind-without-auth",
    });
    expect(asked).toEqual([]);

    const stop = new Error("far enough");
    const thrower = async (host: string, port: number) => {
      asked.push([host, port]);
      throw stop;
    };
    await expect(start({ config: local, takePort: thrower, env })).rejects.toBe(stop);
    expect(asked).toEqual([["127.0.0.1", 4711]]);
  });
});

test("an address that is not this machine's is a bind error that may be retried", async () => {
  const config = { gateway: { ...local.gateway, bind: "custom", customBindHost: "192.0.2.1" } };
  await expect(start({ config, env: { SVC_GATEWAY_PORT: "4711" } })).rejects.toMatchObject({
    code: "bind-failed",
    message: expect.stringMatching(/^failed to bind gateway socket on ws:\/\/192\.0\.2\.1:4711: .*EADDRNOTAVAIL/),
    spec: { exit: 1 },
  });
  expect((await refusal()).code).toBe("bind-failed");
});

describe("one state directory", () => {
  test("has one gateway: a second is refused after the wait and takes nothing from the first", async () => {
    const first = await start({ config: {}, flags: { allowUnconfigured: true } });
    const token = await readFile(path("state", "gateway", "runtime-token"), "utf8");

    await expect(start({ flags: { allowUnconfigured: true } })).rejects.toMatchObject({
      code: "lock-held",
      message: expect.stringMatching(new RegExp(`^gateway already running \\(pid ${process.pid}\\); lock timeout after 100ms`)),
      spec: { exit: 78 },
    });

    expect(await readFile(path("state", "gateway", "runtime-token"), "utf8")).toBe(token);
    expect(JSON.parse(await readFile(path("state", "gateway", "runtime.json"), "utf8")).port).toBe(first.port);
    expect(await live(first)).toBe(200);
  });

  test("is closed to commands without a listener too, while a gateway has it", async () => {
    const first = await start({ config: local });
    await expect(start({ listen: false })).rejects.toMatchObject({ code: "lock-held" });
    await first.close("test over");
    const quiet = await start({ listen: false });
    expect(quiet.port).toBe(0);
  });

  test("is taken over from a gateway that died", async () => {
    await mkdir(path("state", "gateway"), { recursive: true, mode: 0o700 });
    await writeFile(path("state", "gateway", "state.lock"), JSON.stringify({ pid: process.pid, startTime: "1", createdAt: 1 }), {
      mode: 0o600,
    });
    const gateway = await start({ config: local });
    expect(JSON.parse(await readFile(path("state", "gateway", "state.lock"), "utf8"))).toMatchObject({
      pid: process.pid,
      port: gateway.port,
      configPath: path("state", "svc.json"),
      stateDir: path("state"),
      version: "1.0.0",
    });
  });

  test("is for its owner only: files 0600, folders 0700", async () => {
    await start({ config: {}, flags: { allowUnconfigured: true } });
    const entries = await readdir(path("state"), { recursive: true, withFileTypes: true });
    expect(entries.map((e) => e.name).sort()).toEqual([
      "boots.json",
      "gateway",
      basename(await configLockPath(path("state", "svc.json"))),
      "runtime-token",
      "runtime.json",
      "state.lock",
      "svc.json",
      "svc.json.last-good",
    ]);
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, entry.isDirectory() ? "700" : "600"]);
    }
    expect((await stat(path("state"))).mode & 0o777).toBe(0o700);
  });

  test("tells who runs there from ready to stop", async () => {
    const gateway = await start({ config: local });
    expect(JSON.parse(await readFile(path("state", "gateway", "runtime.json"), "utf8"))).toEqual({
      pid: process.pid,
      port: gateway.port,
      host: "127.0.0.1",
      bind: "loopback",
      version: "1.0.0",
      startedAt: expect.any(Number),
    });
    expect((await readdir(path("state", "gateway"))).sort()).toEqual(["boots.json", "runtime.json", "state.lock"]);
    await gateway.close("test over");
    expect(await readdir(path("state", "gateway"))).toEqual(["boots.json"]);
  });
});

test("the port of the flag beats the environment, which beats the config; HOST and PORT of other programs count for nothing", async () => {
  const config = { gateway: { ...local.gateway, port: 4711 } };
  const gateway = await start({ config, flags: { port: 0 }, env: { SVC_GATEWAY_PORT: "4712", HOST: "0.0.0.0", PORT: "4713" } });
  expect([gateway.portSource, gateway.host]).toEqual(["flag", "127.0.0.1"]);
  await gateway.close("test over");
  expect((await start({ config, env: { HOST: "0.0.0.0", PORT: "4713" } })).portSource).toBe("env");
});

test("a tailnet bind without a tailnet listens on loopback and says so", async () => {
  const gateway = await start({ config: { gateway: { ...local.gateway, bind: "tailnet" } } });
  expect(gateway.host).toBe("127.0.0.1");
  expect(logs.filter((l) => l.level === "warn").map((l) => l.message)).toEqual([
    expect.stringContaining("bind tailnet: this machine has no tailnet address"),
  ]);
});

test("a required plugin that is missing refuses the start, and the refusal is kept", async () => {
  const config = { ...local, plugins: { entries: { "no-such": { required: true } } } };
  await expect(start({ config })).rejects.toMatchObject({ code: "required-plugin-failed", spec: { exit: 78 } });
  await gateways.at(-1)?.close("start failed");
  expect(await refusal()).toMatchObject({
    code: "required-plugin-failed",
    message: expect.stringContaining('plugin "no-such" is required'),
  });
});
