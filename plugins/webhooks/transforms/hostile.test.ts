import { symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { eventually, watchLeaks } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openSandbox } from "../../../test/tools/transform-sandbox.ts";
import { fault, stage } from "./testing/stage.ts";

vi.setConfig({ testTimeout: 90_000 });

const failed = (reason: string): unknown => expect.objectContaining({ code: "transform-failed", reason: expect.stringContaining(reason) });

const here = stage({ beforeEach, afterEach, watchLeaks, openSandbox });
const { write, open, use } = here;
/** CommonJS as most here: it needs no translator, whose start takes longer than that of a guest. */
const fine = { "fine.js": "module.exports = ({ payload }) => ({ message: String(payload) });" };
/** The guest is there and serves: what went before has done no harm. */
const stillServes = async () =>
  expect(await use("fine.js", { given: { payload: "still" } })).toEqual({ kind: "fields", fields: { message: "still" } });

describe.each(["process", "worker"] as const)("in a %s, a transform that", (isolation) => {
  test("loops for ever, called or loading or in a getter of its result, is ended at its limit, and another one takes its place", async () => {
    const sources = {
      "loops.js": "module.exports = () => { for (;;); };",
      "loops-while-it-loads.js": "for (;;);",
      "loops-in-a-getter.js": "module.exports = () => ({ get message() { for (;;); } });",
    };
    await write(sources);
    const transforms = open({ isolation, timeoutMs: 200 });
    for (const module of Object.keys(sources)) {
      await transforms.start();
      expect(await fault(use(module))).toEqual(failed(`${module} did not finish within 200 ms`));
    }
    await transforms.start();
  });

  test("ends its guest fails alone, however it does that", async () => {
    const sources = {
      "fills-its-heap.js": "const kept = []; module.exports = () => { for (;;) kept.push(new Array(1e5).fill({ a: Math.random() })); };",
      "exits.js": "module.exports = () => process.exit(0);",
      "exits-while-it-loads.js": "process.exit(0); module.exports = () => null;",
      "leaves-a-rejection.js": 'module.exports = () => { Promise.reject(new Error("nobody")); return new Promise(() => {}); };',
      "throws-from-a-timer.js": 'module.exports = () => { setTimeout(() => { throw new Error("late"); }); return new Promise(() => {}); };',
    };
    await write({ ...fine, ...sources });
    open({ isolation });
    for (const module of Object.keys(sources)) {
      expect(await fault(use(module))).toEqual(failed(`${module}: hook transforms: its ${isolation} exited during the call`));
      await stillServes();
    }
  });

  test("recurses without end fails, and its guest goes on", async () => {
    await write({ ...fine, "recurses.js": "const f = () => f() + 1; module.exports = f;" });
    open({ isolation });
    expect(await fault(use("recurses.js"))).toEqual(failed("recurses.js: Maximum call stack size exceeded"));
    await stillServes();
  });

  test("prints is heard, a little of it", async () => {
    await write({
      "prints.js": 'module.exports = () => { console.log("said inside"); console.error("x".repeat(100_000)); return null; };',
    });
    open({ isolation });
    expect(await use("prints.js")).toEqual({ kind: "skip" });
    await eventually(() => here.lines.join("\n").includes("too much output"));
    expect(here.lines.join("\n")).toContain("said inside");
    expect(here.lines.join("").length).toBeLessThan(10_000);
  });

  test("sees no variable of the gateway and no argument", async () => {
    await write({ "env.js": "module.exports = () => ({ message: JSON.stringify([process.env, process.argv.slice(1)]) });" });
    open({ isolation });
    expect(await use("env.js")).toEqual({ kind: "fields", fields: { message: "[{},[]]" } });
  });

  test("uses the network is refused, whichever way it tries", async () => {
    const ways = {
      fetched: 'fetch("http://127.0.0.1:9/")',
      connected: 'net.connect(9, "127.0.0.1")',
      encrypted: 'tls.connect(9, "127.0.0.1")',
      requested: 'http.get("http://127.0.0.1:9/")',
      named: 'lookup("example.org", () => {})',
      lookedUp: 'dns.promises.lookup("example.org")',
      resolved: 'new dns.Resolver().resolve4("example.org", () => {})',
      resolvedLater: 'new dns.promises.Resolver().resolve4("example.org")',
      datagram: 'dgram.createSocket("udp4").send("x", 9, "127.0.0.1")',
      bound: 'dgram.createSocket("udp4").bind()',
      served: "net.createServer().listen(0)",
    };
    await write({
      "net.mjs": [
        'import dgram from "node:dgram"; import dns, { lookup } from "node:dns"; import http from "node:http"; import net from "node:net"; import tls from "node:tls";',
        ...Object.entries(ways).map(([name, way]) => `export const ${name} = async () => { await ${way}; return null; };`),
      ].join("\n"),
    });
    open({ isolation });
    for (const [i, name] of Object.keys(ways).entries()) {
      const found = await fault(use("net.mjs", { export: name }));
      expect([name, found]).toEqual([name, failed(`network access is switched off here (net.mjs:${i + 2}:`)]);
      expect(found.reason).toContain("[ERR_NETWORK_OFF]");
    }
  });

  test("uses the network may do so where the operator allows it", async () => {
    const server = createServer((_request, response) => response.writeHead(204, { connection: "close" }).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as { port: number };
      await write({ "net.mjs": `export default async () => ({ message: String((await fetch("http://127.0.0.1:${port}/")).status) });` });
      open({ isolation, allowNet: true });
      expect(await use("net.mjs")).toEqual({ kind: "fields", fields: { message: "204" } });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe("in a process, a transform that", () => {
  test("reaches beyond its folder is refused, whichever way it tries", async () => {
    const ways = {
      reads: 'fs.readFileSync("/etc/passwd", "utf8")',
      lists: 'fs.readdirSync("/etc")',
      asks: 'fs.statSync("/etc/passwd")',
      links: 'fs.symlinkSync("/etc/passwd", new URL("./made", import.meta.url))',
      writes: 'fs.writeFileSync(new URL("./made", import.meta.url), "x")',
      removes: 'fs.rmSync(new URL("./reach.mjs", import.meta.url))',
      spawns: 'child.execSync("id")',
      forks: 'child.fork("/etc/passwd")',
      threads: 'new Worker("1", { eval: true })',
      binds: 'process.binding("tcp_wrap")',
      native: 'process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")',
      signals: "process.kill(process.ppid, 0)",
      signalsBelow: "process._kill(process.ppid, 0)",
      debugs: "process._debugProcess(process.ppid)",
      slows: "os.setPriority(process.ppid, 19)",
    };
    await write({
      ...fine,
      "reach.mjs": [
        'import child from "node:child_process"; import fs from "node:fs"; import os from "node:os"; import { Worker } from "node:worker_threads";',
        ...Object.entries(ways).map(([name, way]) => `export const ${name} = () => ({ message: String(${way}) });`),
      ].join("\n"),
    });
    open();
    for (const name of Object.keys(ways)) {
      expect([name, await fault(use("reach.mjs", { export: name }))]).toEqual([name, failed("[ERR_")]);
    }
    await stillServes();
  });

  test("fills memory outside of its heap is ended long before its limit", async () => {
    await write({ ...fine, "buffers.js": "const kept = []; module.exports = () => { for (;;) kept.push(Buffer.alloc(1e6, 1)); };" });
    open();
    await stillServes();
    expect(await fault(use("buffers.js"))).toEqual(failed("it takes more than 320 MB of memory"));
    await stillServes();
  });

  test("says on its line what is no message is ended", async () => {
    await write({
      ...fine,
      "forges.js": 'import { writeSync } from "node:fs";\nexport default () => { writeSync(3, "{}\\n"); return new Promise(() => {}); };',
    });
    open();
    expect(await fault(use("forges.js"))).toEqual(failed("it sent what is no message"));
    await stillServes();
  });
});

/** Says that it has begun, then takes its time. */
const slow = (word: string) =>
  `module.exports = ({ payload }) => { console.log("begun"); return new Promise((resolve) => setTimeout(resolve, payload, { name: "${word}" })); };`;
const begun = () => here.lines.join("\n").split("begun").length - 1;

test("calls beyond eight wait, and those beyond seventy-two are sent away", async () => {
  await write({ "slow.js": slow("late") });
  open();
  await use("slow.js", { given: { payload: 0 } });
  const calls = Array.from({ length: 74 }, () => fault(use("slow.js", { given: { payload: 200 } })));
  const codes = (await Promise.all(calls)).map(({ code, retryAfterMs }) => [code, retryAfterMs]);
  expect(codes.filter(([code]) => code === "none")).toHaveLength(72);
  expect(codes.filter(([code]) => code === "transform-busy")).toEqual([
    ["transform-busy", 1_000],
    ["transform-busy", 1_000],
  ]);
});

test("a call that waits for a place as long as it might take is sent away as well, and has failed nowhere", async () => {
  await write({ ...fine, "slow.js": slow("late") });
  const transforms = open({ timeoutMs: 4_000 });
  await transforms.start();
  // The eight guests are started first: how long that takes must not be part of the limit.
  await Promise.all(Array.from({ length: 8 }, () => fault(use("slow.js", { given: { payload: 1_000 } }))));
  const started = begun();
  const hanging = Array.from({ length: 8 }, () => fault(use("slow.js", { given: { payload: 60_000 } })));
  await eventually(() => begun() === started + 8);
  expect(await fault(use("fine.js"))).toMatchObject({ code: "transform-busy", retryAfterMs: 1_000 });
  expect(new Set((await Promise.all(hanging)).map(({ code }) => code))).toEqual(new Set(["transform-failed"]));
});

test("a transform that ends its process five times within a minute rests for a minute; the others go on", async () => {
  let now = 0;
  await write({ ...fine, "exits.js": "module.exports = () => process.exit(1);" });
  open({ isolation: "worker" }, { now: () => now });
  for (let i = 0; i < 5; i++) expect(await fault(use("exits.js"))).toEqual(failed("exits.js"));
  expect(await fault(use("exits.js"))).toMatchObject({ code: "transform-resting", retryAfterMs: 60_000 });
  await stillServes();
  now = 60_000;
  expect((await fault(use("exits.js"))).code).toBe("transform-failed");
});

test("files are compared once a second: a call that is under way while one changes finishes with the old code, the next begins with the new", async () => {
  let now = 0;
  await write({ "slow.js": slow("old") });
  open({}, { now: () => now });
  const long = use("slow.js", { given: { payload: 8_000 } });
  await eventually(() => begun() === 1);
  await write({ "slow.js": slow("edited") });
  now += 999;
  expect(await use("slow.js", { given: { payload: 0 } })).toEqual({ kind: "fields", fields: { name: "old" } });
  now += 1;
  expect(await use("slow.js", { given: { payload: 0 } })).toEqual({ kind: "fields", fields: { name: "edited" } });
  expect(await long).toEqual({ kind: "fields", fields: { name: "old" } });
});

test("a caller that gives up gets its own reason", async () => {
  await write({ "hang.js": "module.exports = () => new Promise(() => {});" });
  open();
  const gone = new AbortController();
  gone.abort(new Error("gone"));
  await expect(use("hang.js", { signal: gone.signal })).rejects.toThrow("gone");
});

test("a link that appears later and leads out opens nothing, and the others serve on", async () => {
  let now = 0;
  const peek =
    'import { readFileSync } from "node:fs";\nexport default () => ({ name: readFileSync(new URL("./link", import.meta.url), "utf8") });';
  await write({ ...fine, "peek.js": peek });
  open({}, { now: () => now });
  await stillServes();
  await symlink("/etc/passwd", join(here.root, "link"));
  now += 1_000;
  expect((await fault(use("peek.js"))).reason).toContain("Access to this API has been restricted");
  await stillServes();
});
