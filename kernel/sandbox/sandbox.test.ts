import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { SvcError } from "../../sdk/errors.ts";
import { watchLeaks } from "../../sdk/testing/leaks.ts";
import { setCompiledModules, workerUrl } from "../../sdk/worker.ts";
import { createLogger, type LogRecord } from "../process/logger.ts";
import { packageRoot } from "../process/paths.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

// Each test starts a guest or two, and a child process reads the whole SDK from its sources.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let sandbox: Sandbox | undefined;
const logs: LogRecord[] = [];
const freshFolder = async () => realpath(await mkdtemp(join(tmpdir(), "svc-sandbox-")));
beforeEach(async () => {
  folder = await freshFolder();
  logs.length = 0;
});
afterEach(async () => {
  sandbox?.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** Name and text of a plugin's entry. */
type Source = [name: string, text: string];

/** Needs no translator, whose start takes longer than that of the guest. */
const tools: Source = [
  "index.cjs",
  `
const { definePlugin, z } = require("svc/sdk");
const { execSync } = require("node:child_process");
const { readFileSync, writeSync } = require("node:fs");
const { parentPort } = require("node:worker_threads");
const tool = (name, run) => ({ name, description: name, input: z.object({ n: z.number().default(7) }).loose(), run });
const hogs = [];
module.exports = definePlugin({
  id: "guest", version: "1.0.0", svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool(tool("echo", (args, call) => ({ args, agentId: call.agentId })));
    ctx.registerTool(tool("loop", () => { for (;;); }));
    ctx.registerTool(tool("hang", (_args, { signal }) => new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(new Error("heard the abort"))))));
    ctx.registerTool(tool("hog", () => { for (;;) hogs.push(new Array(1e5).fill({ a: Math.random() })); }));
    ctx.registerTool(tool("exit", () => process.exit(3)));
    ctx.registerTool(tool("passwd", () => readFileSync("/etc/passwd", "utf8").length));
    ctx.registerTool(tool("spawn", () => execSync("id").toString()));
    ctx.registerTool(tool("fetch", async () => (await fetch("http://127.0.0.1:9/")).status));
    ctx.registerTool(tool("env", () => ({ ...process.env })));
    ctx.registerTool(tool("big", () => "x".repeat(2_000_000)));
    ctx.registerTool(tool("print", () => { console.log("printed inside"); return "ok"; }));
    ctx.registerTool(tool("garbage", () => parentPort ? parentPort.postMessage({}) : writeSync(3, "garbage\\n")));
    ctx.registerTool(tool("flood", () => { for (;;) ctx.logger.info("y".repeat(1000)); }));
  },
});
`,
];
const typed: Source = [
  "index.ts",
  `
import { definePlugin, z } from "svc/sdk";
export default definePlugin({
  id: "guest", version: "1.0.0", svc: { api: "^1.0.0" },
  setup(ctx) {
    const tool = (name: string, run: (args: any, call: any) => unknown) => ctx.registerTool({ name, description: name, input: z.object({ n: z.number().default(7) }).loose(), run });
    tool("echo", (args, call) => ({ args, agentId: call.agentId }));
    tool("throw", () => {
      const reason: string = "thrown inside";
      throw new Error(reason);
    });
  },
});
`,
];

async function open(options: Partial<SandboxOptions> & { net?: boolean; source?: Source } = {}): Promise<Sandbox> {
  sandbox = await createGuest(folder, options);
  return sandbox;
}

async function createGuest(root: string, options: Partial<SandboxOptions> & { net?: boolean; source?: Source }): Promise<Sandbox> {
  const { net = false, source = tools, ...own } = options;
  const [name, text] = source;
  const entry = join(root, name);
  await writeFile(entry, text);
  return createSandbox({
    name: 'plugin "guest"',
    mode: "worker",
    guest: workerUrl(import.meta.url, "./plugin-guest"),
    data: () => ({
      id: "guest",
      version: "1.0.0",
      instance: 1,
      origin: "config",
      root,
      entry,
      config: {},
      env: {},
      resumes: false,
      net,
      jiti: import.meta.resolve("jiti"),
    }),
    read: [root],
    logger: createLogger([(record) => logs.push(record)]),
    ...own,
  });
}

/** Cold starts take their time on a busy machine; what is not about limits has plenty. */
const use = (box: Sandbox, name: string, args: unknown = {}, options: { signal?: AbortSignal; timeoutMs?: number } = {}) =>
  box.call(`tool ${name}`, { name, args, call: { agentId: "main" } }, { timeoutMs: 30_000, ...options });
const code = async (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (error: SvcError) => error.code,
  );

describe.each(["worker", "process"] as const)("code that runs in a %s", (mode) => {
  /** One for all tests that need no other: its guest is replaced where a test ends it. */
  let box: Sandbox;
  let root: string;
  let now = 0;
  beforeAll(async () => {
    root = await freshFolder();
    box = await createGuest(root, { mode, limits: { memoryMb: 40 }, now: () => now });
  });
  beforeEach(() => {
    now += 61_000; // none of them rests for what the one before did
  });
  afterAll(async () => {
    box.dispose();
    await rm(root, { recursive: true, force: true });
  });

  test("runs from the host's sources, too", async () => {
    setCompiledModules(undefined);
    onTestFinished(() => setCompiledModules(join(packageRoot(), "dist")));
    const fromSources = await open({ mode, source: typed });
    expect(await use(fromSources, "echo", { word: "hi" })).toEqual({ args: { n: 7, word: "hi" }, agentId: "main" });
  });

  test("answers as JSON, with its schema's defaults", async () => {
    expect(await use(box, "echo", { word: "hi" })).toEqual({ args: { n: 7, word: "hi" }, agentId: "main" });
  });

  test("sees nothing of the environment", async () => {
    const env = (await use(box, "env")) as Record<string, string>;
    expect(env).toEqual({});
  });

  test("has no network unless it was granted", async () => {
    await expect(use(box, "fetch")).rejects.toThrow("network access is switched off here");
    await expect(use(await open({ mode, net: true }), "fetch")).rejects.toThrow("fetch failed");
  });

  test("may not be given more than a megabyte", async () => {
    expect(await code(use(box, "echo", { text: "x".repeat(1_100_000) }))).toBe("sandbox-too-large");
  });

  test(`${mode === "worker" ? "sees" : "is refused"} files and programs`, async () => {
    for (const name of ["passwd", "spawn"]) {
      const answer = expect(use(box, name), name);
      if (mode === "worker") await answer.resolves.toBeTruthy();
      else await answer.rejects.toMatchObject({ fields: { code: "ERR_ACCESS_DENIED" } });
    }
  });

  test("hears when its caller has given up", async () => {
    await box.start();
    const gone = new AbortController();
    const call = use(box, "hang", {}, { signal: gone.signal });
    await use(box, "echo");
    gone.abort();
    await expect(call).rejects.toThrow("heard the abort");
  });

  test("prints into the log, a little", async () => {
    await use(box, "print");
    await expect.poll(() => logs.map((l) => l.message)).toContain("printed inside");
  });

  test("is ended when it loops for ever, and the next call finds a fresh one", async () => {
    await box.start();
    await expect(use(box, "loop", {}, { timeoutMs: 500 })).rejects.toThrow(
      'plugin "guest": tool loop did not finish within 500 ms; it was ended',
    );
    expect(await use(box, "echo")).toMatchObject({ args: { n: 7 } });
  });

  test("ends alone when it eats all memory", async () => {
    expect(await code(use(box, "hog"))).toBe("sandbox-crashed");
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });

  test("ends alone when it exits", async () => {
    expect(await code(use(box, "exit"))).toBe("sandbox-crashed");
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });

  test("may not return more than a megabyte", async () => {
    expect(await code(use(box, "big"))).toBe("sandbox-crashed");
  });

  test("ends alone when it sends what is no message", async () => {
    await expect(use(box, "garbage")).rejects.toThrow("it sent what is no message");
  });

  test("ends alone when it floods the log, which gets a little of it", async () => {
    await expect(use(box, "flood")).rejects.toThrow("it floods the log");
    const said = logs.map((l) => l.message).join("");
    expect(said).toContain("too much output");
    expect(said.length).toBeLessThan(10_000);
  });

  test("may not be started with more than a megabyte, and is gone then", async () => {
    const leaks = watchLeaks();
    const large = await open({ mode, data: () => ({ config: "x".repeat(1_100_000) }) });
    expect(await code(large.start())).toBe("sandbox-too-large");
    await leaks.assertNone();
  });

  test("names the file and line of what it throws", async () => {
    const throwing = await open({ mode, source: typed });
    await expect(use(throwing, "throw")).rejects.toThrow('plugin "guest": tool throw: thrown inside (index.ts:10:13)');
  });

  test("that does not parse says where", async () => {
    const broken = await open({ mode, source: ["index.ts", 'import { z } from "svc/sdk";\nexport default {{;\n'] });
    await expect(broken.start()).rejects.toThrow(/index\.ts:2:\d+/);
  });
});

test("a process starts also when a folder it may read is named twice", async () => {
  const box = await open({ mode: "process", read: [folder, folder] });
  expect(await use(box, "echo")).toMatchObject({ args: { n: 7 } });
});

test("more calls than may wait are refused at once, the others are served in order", async () => {
  const box = await open({ limits: { inFlight: 2, waiting: 3 } });
  await box.start();
  const all = await Promise.all(Array.from({ length: 8 }, (_, n) => code(use(box, "echo", { n }))));
  expect(all.map((value) => (typeof value === "string" ? value : (value as { args: { n: number } }).args.n))).toEqual([
    0,
    1,
    2,
    3,
    4,
    "busy",
    "busy",
    "busy",
  ]);
});

test("a guest that was stopped is not started again", async () => {
  const box = await open();
  await box.start();
  box.dispose();
  expect(await code(use(box, "echo"))).toBe("sandbox-crashed");
});

describe("a guest that keeps ending", () => {
  test("rests after five ends within a minute, whatever ended it, and comes back", async () => {
    let now = 0;
    const box = await open({ now: () => now });
    for (const name of ["exit", "big", "garbage", "exit"]) expect(await code(use(box, name))).toBe("sandbox-crashed");
    await box.start();
    expect(await code(use(box, "loop", {}, { timeoutMs: 100 }))).toBe("sandbox-timeout");
    expect(await code(use(box, "echo"))).toBe("sandbox-unavailable");
    now = 60_001;
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });

  test("rests also when it was its start that failed five times, but not when it was restarted", async () => {
    const box = await open({ source: ["index.cjs", 'throw new Error("not today");'] });
    for (let i = 0; i < 6; i++) {
      const start = code(box.start());
      await expect.poll(() => box.isAlive).toBe(true);
      box.restart();
      expect(await start).toBe("sandbox-crashed");
    }
    for (let i = 0; i < 5; i++) await expect(box.start()).rejects.toThrow("not today");
    expect(await code(box.start())).toBe("sandbox-unavailable");
  });
});

describe("a caller", () => {
  test("that gives up during the start, or whose time is over, does not wait for its end", async () => {
    const box = await open();
    let started = false;
    const start = box.start().then(() => {
      started = true;
    });
    await expect.poll(() => box.isAlive).toBe(true);
    const gone = new AbortController();
    const call = use(box, "echo", {}, { signal: gone.signal });
    gone.abort(new Error("given up"));
    await expect(call).rejects.toThrow("given up");
    expect(await code(use(box, "echo", {}, { timeoutMs: 1 }))).toBe("sandbox-timeout");
    expect(started).toBe(false);
    await start;
  });

  test("waits for a place no longer than for an answer, and whoever is served goes on", async () => {
    const box = await open({ limits: { inFlight: 1 } });
    await box.start();
    const served = new AbortController();
    const first = use(box, "hang", {}, { signal: served.signal });
    const gone = new AbortController();
    const second = use(box, "echo", {}, { signal: gone.signal });
    gone.abort(new Error("given up"));
    await expect(second).rejects.toThrow("given up");
    expect(await code(use(box, "echo", {}, { timeoutMs: 50 }))).toBe("sandbox-timeout");
    served.abort();
    await expect(first).rejects.toThrow("heard the abort");
  });
});

test("a Node without the permission model is no way to run a process, and the error says so", async () => {
  const program = join(folder, "node");
  await writeFile(program, "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  const box = await open({ mode: "process", program });
  await expect(box.start()).rejects.toThrow(/refused --\S*permission: isolation "process" cannot be had with it/);
});
