import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { eventually } from "../../sdk/testing/eventually.ts";
import { bodyOf, closeRawSockets, dial, type RawSocket, sendRaw, statusesOf, statusOf, upgradeRequest } from "../kernel/_raw.ts";
import { freePort } from "../servers/ports.ts";
import { behindModels, configured, freshHome, gatewayIn, root, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

const run = promisify(execFile);
const servers: Server[] = [];
afterEach(async () => {
  closeRawSockets();
  await stopAll();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const bearer = `Authorization: Bearer ${token}\r\n`;
const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines}\r\n`;
const gatewayWith = async (gateway: object = {}, env: Record<string, string> = {}) =>
  gatewayIn(
    await configured(await freshHome(), { gateway: { mode: "local", auth: { token }, ...gateway }, plugins: behindModels }),
    [],
    env,
  );
const memoryOf = async (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

describe("beyond loopback nothing starts without a credential", () => {
  const binds = [{ bind: "lan" }, { bind: "custom", customBindHost: "0.0.0.0" }];
  const auths = [{ mode: "none" }, {}, { mode: "password" }, { mode: "token", password: "the-other-kind" }];

  const table = binds.flatMap((bind) => auths.map((auth) => [bind, auth] as const));
  test.each(table.map(([bind, auth], i) => [bind, auth, i === 0 ? svcCommand : command] as const))(
    "%j with auth %j",
    async (bind, auth, run) => {
      const home = await configured(await freshHome(), { gateway: { mode: "local", ...bind, auth } });
      const refused = await run(home, ["gateway"]);
      expect([refused.code, refused.stdout]).toEqual([78, ""]);
      expect(refused.stderr).toMatch(/refusing to bind gateway to 0\.0\.0\.0:\d+ without auth/);
    },
  );

  test("with a trusted proxy it does, and only for that proxy", async () => {
    const auth = { mode: "trusted-proxy", trustedProxy: { userHeader: "x-user" } };
    const { port } = await gatewayWith({ bind: "lan", auth, trustedProxies: ["10.255.255.1"] });
    expect(statusOf(await sendRaw(port, get("/v1/models", "X-User: root\r\n")))).toBe(401);
    expect(statusOf(await sendRaw(port, get("/v1/models")))).toBe(401);
  });
});

describe("against one gateway", () => {
  let home: Home;
  let gateway: Running;
  beforeAll(async () => {
    home = await configured(await createHome(), { gateway: { mode: "local", auth: { token, rateLimit: { maxAttempts: 100 } } } });
    gateway = await startGateway(home);
  });
  afterAll(async () => {
    await gateway?.kill("SIGTERM");
    await home?.remove();
  });

  test("forty heads that come a byte every three seconds are all gone in the end, and nobody else waits", async () => {
    const { port } = gateway;
    const slow = await Promise.all(Array.from({ length: 40 }, () => dial(port)));
    const head = get("/v1/models", `${bearer}X-Pad: ${"x".repeat(100)}\r\n`);
    let sent = 0;
    const drip = () => {
      for (const { socket, write } of slow) if (socket.writable) write(head.charAt(sent));
      sent += 1;
    };
    drip();
    const dripping = setInterval(drip, 3_000);
    try {
      expect(statusOf(await sendRaw(port, get("/healthz")))).toBe(200);
      expect(statusOf(await sendRaw(port, get("/v1/models", bearer)))).toBe(200);
      await Promise.all(slow.map(({ ended }) => ended));
      expect(slow.map(({ received }) => statusesOf(received()))).toEqual(slow.map(() => [408]));
      expect(sent).toBeLessThanOrEqual(8); // 15 s for a head, looked at every 2 s
    } finally {
      clearInterval(dripping);
    }
  });

  test("ten bodies of 50 MB behind wrong tokens are answered and not taken in", async () => {
    await sendRaw(gateway.port, get("/v1/models", bearer));
    const before = await memoryOf(gateway.child.pid);
    const chunk = Buffer.alloc(1_000_000, 0x20);
    const pour = async (lines: string): Promise<RawSocket> => {
      const raw = await dial(gateway.port);
      raw.socket.setMaxListeners(0);
      raw.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n${lines}\r\n`);
      for (let i = 0; i < 50 && raw.socket.writable; i++) {
        if (!raw.socket.write(chunk)) await Promise.race([new Promise((resolve) => raw.socket.once("drain", resolve)), raw.ended]);
      }
      await raw.ended;
      return raw;
    };
    const refused = await Promise.all(Array.from({ length: 10 }, () => pour("Authorization: Bearer wrong\r\n")));
    expect(refused.map(({ received }) => statusesOf(received()))).toEqual(refused.map(() => [401]));
    const large = await Promise.all(Array.from({ length: 10 }, () => pour(bearer)));
    expect(large.map(({ received }) => statusesOf(received()))).toEqual(large.map(() => [413]));
    expect((await memoryOf(gateway.child.pid)) - before).toBeLessThan(20_000_000);
  });

  test("a CONNECT request that is reset does not end the gateway, and two hundred of them hold no descriptor", async () => {
    const descriptors = async () => (await readdir(`/proc/${gateway.child.pid}/fd`)).length;
    await sendRaw(gateway.port, get("/healthz"));
    const before = await descriptors();
    const request = "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n";

    const reset = await dial(gateway.port);
    reset.write(request);
    await eventually(() => reset.received() !== "");
    reset.socket.resetAndDestroy();
    const open = await Promise.all(Array.from({ length: 200 }, () => dial(gateway.port)));
    for (const { write } of open) write(request);
    await Promise.all(open.map(({ ended }) => ended));

    expect(open.map(({ received }) => statusesOf(received()))).toEqual(open.map(() => [405]));
    expect(await eventually(async () => (await descriptors()) < before + 100)).toBe(true); // its own files and workers come and go
    expect(gateway.child.exitCode).toBeNull();
    expect(statusOf(await sendRaw(gateway.port, get("/healthz")))).toBe(200);
  });

  test("pipelined requests whose answers nobody reads cost the memory of one answer for each connection", async () => {
    const { port } = gateway;
    const page = await fetch(`http://127.0.0.1:${port}/`).then((res) => res.text());
    const assets = [...page.matchAll(/"((?:\.?\/)?assets\/[^"]+\.js)"/g)].map(
      (match) => new URL(match[1] ?? "", `http://127.0.0.1:${port}/`).pathname,
    );
    const sizes = await Promise.all(
      assets.map(async (path) => (await fetch(`http://127.0.0.1:${port}${path}`).then((res) => res.text())).length),
    );
    const largest = assets[sizes.indexOf(Math.max(...sizes))];
    const before = await memoryOf(gateway.child.pid);
    const deaf = await Promise.all(Array.from({ length: 30 }, () => dial(port)));

    for (const { socket, write } of deaf) {
      socket.pause();
      write(`GET ${largest} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(1_000));
    }
    for (let i = 0; i < 20; i++) expect(statusOf(await sendRaw(port, get("/healthz")))).toBe(200);

    expect((await memoryOf(gateway.child.pid)) - before).toBeLessThan(150_000_000);
  });
});

test("nothing but its own settings decides where it listens, and a held port is no reason for another one", async () => {
  const home = await configured(await freshHome());
  const gateway = await gatewayIn(home, [], { HOST: "0.0.0.0", PORT: "1", HOSTNAME: "0.0.0.0", NITRO_HOST: "0.0.0.0", LISTEN_FDS: "3" });
  const info = JSON.parse(await readFile(`${home.stateDir}/gateway/runtime.json`, "utf8"));
  expect([info.host, info.port]).toEqual(["127.0.0.1", gateway.port]);
  expect(gateway.port).not.toBe(1);
  const second = await svcCommand(await configured(await freshHome()), ["gateway", "--port", String(gateway.port)]);
  expect(second.code).toBe(78);
  expect(second.stderr).toContain(`another gateway instance is already listening on ws://127.0.0.1:${gateway.port}`);
});

describe("a program that squats the port", () => {
  /** Takes whatever comes, remembers it, and may greet. */
  async function squat(greeting?: string): Promise<{ port: number; heard: string[]; opened(): number }> {
    const heard: string[] = [];
    let opened = 0;
    const server = createServer((req, res) => {
      heard.push(`${req.url} ${JSON.stringify(req.headers)}`);
      req.on("data", (chunk: Buffer) => void heard.push(chunk.toString()));
      res.end('{"ok":true,"status":"live"}');
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (req, socket, head) => {
      heard.push(`${req.url} ${JSON.stringify(req.headers)}`);
      sockets.handleUpgrade(req, socket, head, (ws) => {
        opened += 1;
        ws.on("message", (data) => void heard.push(String(data)));
        if (greeting) ws.send(greeting);
      });
    });
    servers.push(server);
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port, heard, opened: () => opened };
  }

  test("is named as the conflict, and the start ends", async () => {
    const { port, heard } = await squat();
    const refused = await svcCommand(await configured(await freshHome()), ["gateway", "--port", String(port)]);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain(`another gateway instance is already listening on ws://127.0.0.1:${port}`);
    expect(heard.join("\n")).not.toContain(token);
  });

  test.each([
    ["says nothing", undefined, svcCommand],
    ["greets with something else", '{"type":"hello"}', command],
    ["challenges without a nonce", '{"type":"event","event":"connect.challenge","payload":{}}', command],
    ["challenges with an odd nonce", '{"type":"event","event":"connect.challenge","payload":{"nonce":7,"ts":1}}', command],
  ])("and %s learns no secret from a command", async (_, greeting, run) => {
    const squatter = await squat(greeting);
    const home = await configured(await freshHome());
    const done = await run(home, ["health", "--timeout", "1500"], { SVC_GATEWAY_PORT: String(squatter.port) });
    expect(done.code).not.toBe(0);
    expect(squatter.opened()).toBeGreaterThan(0);
    expect(squatter.heard.join("\n")).not.toContain(token);
  });
});

test("connections never take the last descriptors: upgrades stop first, then connections, and it all comes back", async () => {
  const gateway = await gatewayWith();
  const { port } = gateway;
  const descriptors = async () => (await readdir(`/proc/${gateway.child.pid}/fd`)).length;
  const limit = (await descriptors()) + 200;
  await run("prlimit", [`--nofile=${limit}:${limit}`, "--pid", String(gateway.child.pid)]);
  const upgrade = async () => {
    const raw = await dial(port);
    raw.write(upgradeRequest("/"));
    await Promise.race([eventually(() => raw.received().includes("\r\n\r\n")), raw.ended]);
    raw.socket.destroy();
    return statusOf(raw.received());
  };
  // A count is a second old at most: somebody has to come for the next one.
  await eventually(async () => {
    await sendRaw(port, get("/healthz"));
    return (await upgrade()) === 101;
  });
  const idle = await Promise.all(Array.from({ length: 150 }, () => dial(port)));
  expect(await eventually(async () => (await upgrade()) === 503)).toBe(true);
  expect(statusOf(await sendRaw(port, get("/healthz")))).toBe(200);
  expect(bodyOf(await sendRaw(port, get("/healthz")))).toContain("live");

  const flood = await Promise.all(Array.from({ length: 300 }, () => dial(port)));
  await Promise.race(flood.map(({ ended }) => ended));
  expect(await descriptors()).toBeLessThan(limit);
  expect(gateway.child.exitCode).toBeNull();

  for (const { socket } of [...idle, ...flood]) socket.destroy();
  expect(await eventually(async () => (await upgrade()) === 101)).toBe(true);
  expect(statusOf(await sendRaw(port, get("/v1/models", bearer)))).toBe(200);
});

test("a descriptor limit that leaves no room is said at the start, and what is refused for it is logged", async () => {
  const home = await configured(await freshHome());
  const program = join(root, "bin/svc.mjs");
  const script = 'ulimit -n 64; exec "$0" "$@"';
  const child = spawn("/bin/sh", ["-c", script, process.execPath, program, "gateway"], {
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  try {
    await eventually(() => /\bready\b/.test(out), 60_000);
    expect(out).toMatch(/descriptor limit: 64 may be open in this process and \d+ are, so every connection is refused; raise it to 1024/);
    const { port } = JSON.parse(await readFile(join(home.stateDir, "gateway", "runtime.json"), "utf8"));
    for (let i = 0; i < 5; i++) expect(await sendRaw(port, get("/v1/models"))).toBe("");
    await eventually(() => /connections? (was|were) refused/.test(out));
  } finally {
    child.kill("SIGTERM");
    await closed;
  }
});
