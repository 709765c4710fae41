import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SvcError } from "../errors.ts";
import { createLogger, type LogRecord } from "../host/logger.ts";
import { watchLeaks } from "../testing/leaks.ts";
import { workerUrl } from "../worker.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

let folder: string;
let sandbox: Sandbox | undefined;
const logs: LogRecord[] = [];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-sandbox-")));
  logs.length = 0;
});
afterEach(async () => {
  sandbox?.dispose();
  await rm(folder, { recursive: true, force: true });
});

const tools = `
import { definePlugin, z } from "svc/sdk";
import { readFileSync } from "node:fs";
const tool = (name: string, run: (args: any, call: any) => unknown) => ({ name, description: name, input: z.object({ n: z.number().default(7) }).loose(), run });
const hogs: unknown[] = [];
export default definePlugin({
  id: "guest", version: "1.0.0", svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool(tool("echo", (args, call) => ({ args, agentId: call.agentId })));
    ctx.registerTool(tool("loop", () => { for (;;); }));
    ctx.registerTool(tool("hang", (_args, { signal }) => new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(new Error("heard the abort"))))));
    ctx.registerTool(tool("hog", () => { for (;;) hogs.push(new Array(1e5).fill({ a: Math.random() })); }));
    ctx.registerTool(tool("exit", () => process.exit(3)));
    ctx.registerTool(tool("passwd", () => readFileSync("/etc/passwd", "utf8").length));
    ctx.registerTool(tool("spawn", async () => (await import("node:child_process")).execSync("id").toString()));
    ctx.registerTool(tool("fetch", async () => (await fetch("http://127.0.0.1:9/")).status));
    ctx.registerTool(tool("env", () => ({ ...process.env })));
    ctx.registerTool(tool("big", () => "x".repeat(2_000_000)));
    ctx.registerTool(tool("print", () => { console.log("printed inside"); return "ok"; }));
    ctx.registerTool(tool("throw", () => {
      const reason: string = "thrown inside";
      throw new Error(reason);
    }));
  },
});
`;

async function open(options: Partial<SandboxOptions> & { net?: boolean; source?: string } = {}): Promise<Sandbox> {
  const entry = join(folder, "index.ts");
  await writeFile(entry, options.source ?? tools);
  const { net = false, source: _, ...own } = options;
  sandbox = createSandbox({
    name: 'plugin "guest"',
    mode: "worker",
    guest: workerUrl(import.meta.url, "./plugin-guest"),
    data: {
      id: "guest",
      version: "1.0.0",
      instance: 1,
      origin: "config",
      root: folder,
      entry,
      config: {},
      net,
      jiti: import.meta.resolve("jiti"),
    },
    read: [folder],
    logger: createLogger([(record) => logs.push(record)]),
    ...own,
  });
  return sandbox;
}
const use = (box: Sandbox, name: string, args: unknown = {}, options = {}) =>
  box.call(`tool ${name}`, { name, args, call: { agentId: "main" } }, options);
const code = async (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (error: SvcError) => error.code,
  );

describe.each(["worker", "process"] as const)("code that runs in a %s", (mode) => {
  test("answers as JSON, with its schema's defaults", async () => {
    const box = await open({ mode });
    expect(await use(box, "echo", { word: "hi" })).toEqual({ args: { n: 7, word: "hi" }, agentId: "main" });
  });

  test("is ended when it loops for ever, and the next call finds a fresh one", async () => {
    const box = await open({ mode, limits: { callMs: 500 } });
    await box.start();
    await expect(use(box, "loop")).rejects.toThrow('plugin "guest": tool loop did not finish within 500 ms; it was ended');
    expect(await use(box, "echo", {}, { timeoutMs: 10_000 })).toMatchObject({ args: { n: 7 } });
  });

  test("ends alone when it eats all memory", async () => {
    const box = await open({ mode, limits: { callMs: 60_000 } });
    expect(await code(use(box, "hog"))).toBe("sandbox-crashed");
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });

  test("ends alone when it exits", async () => {
    const box = await open({ mode });
    expect(await code(use(box, "exit"))).toBe("sandbox-crashed");
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });

  test("sees nothing of the environment", async () => {
    const box = await open({ mode });
    const env = (await use(box, "env")) as Record<string, string>;
    expect(Object.keys(env).filter((name) => name !== "NODE_CHANNEL_FD" && name !== "NODE_CHANNEL_SERIALIZATION_MODE")).toEqual([]);
  });

  test("may not return more than a megabyte", async () => {
    const box = await open({ mode });
    expect(await code(use(box, "big"))).toBe("sandbox-crashed");
  });

  test("may not be given more than a megabyte", async () => {
    const box = await open({ mode });
    expect(await code(use(box, "echo", { text: "x".repeat(1_100_000) }))).toBe("sandbox-too-large");
  });

  test("may not be started with more than a megabyte, and is gone then", async () => {
    const leaks = watchLeaks();
    const box = await open({ mode, data: { config: "x".repeat(1_100_000) } });
    expect(await code(box.start())).toBe("sandbox-too-large");
    await leaks.assertNone();
  });

  test("has no network unless it was granted", async () => {
    await expect(use(await open({ mode }), "fetch")).rejects.toThrow("network access is switched off here");
    sandbox?.dispose();
    await expect(use(await open({ mode, net: true }), "fetch")).rejects.toThrow("fetch failed");
  });

  test("hears when its caller has given up", async () => {
    const box = await open({ mode });
    await box.start();
    const gone = new AbortController();
    const call = use(box, "hang", {}, { signal: gone.signal });
    await use(box, "echo");
    gone.abort();
    await expect(call).rejects.toThrow("heard the abort");
  });

  test("names the file and line of what it throws", async () => {
    const box = await open({ mode });
    await expect(use(box, "throw")).rejects.toThrow('plugin "guest": tool throw: thrown inside (index.ts:22:13)');
  });

  test("that does not parse says where", async () => {
    const box = await open({ mode, source: 'import { z } from "svc/sdk";\nexport default {{;\n' });
    await expect(box.start()).rejects.toThrow(/index\.ts:2:\d+/);
  });

  test("prints into the log, a little", async () => {
    const box = await open({ mode });
    await use(box, "print");
    await expect.poll(() => logs.map((l) => l.message)).toContain("printed inside");
  });

  test("rests after five crashes within a minute, and comes back", async () => {
    let now = 0;
    const box = await open({ mode, now: () => now });
    for (let i = 0; i < 5; i++) expect(await code(use(box, "exit"))).toBe("sandbox-crashed");
    expect(await code(use(box, "echo"))).toBe("sandbox-unavailable");
    now = 60_001;
    expect(await use(box, "echo")).toMatchObject({ agentId: "main" });
  });
});

test("a worker sees files and programs: it is no wall", async () => {
  const box = await open({ mode: "worker" });
  expect(await use(box, "passwd")).toBeGreaterThan(0);
});

test.each(["passwd", "spawn"])("a process is refused %s", async (name) => {
  const box = await open({ mode: "process" });
  await expect(use(box, name)).rejects.toMatchObject({ fields: { code: "ERR_ACCESS_DENIED" } });
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
