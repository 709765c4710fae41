import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemorySearchResult, SvcConfigInput } from "svc/sdk";
import { createTestGateway, eventually, type FakeClock, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type FakeEngine, fakeSidecarEngine } from "../../test/fakes/sidecar-engine.ts";
import { mountDisk, needsDisk } from "../../test/servers/small-disk.ts";
import { engineHome } from "./engine-home.ts";

const notes = { "MEMORY.md": "# Home\n\nThe router stands in the hall.\n", "memory/day.md": "The boiler needs 1.4 bar.\n" };
const minute = 60_000;

let folder: string;
let engine: FakeEngine;
let gateway: TestGateway;
let clock: FakeClock;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-sidecar-gateway-"));
  engine = await fakeSidecarEngine(join(folder, "bin"));
  clock = fakeClock();
  gateway = await createTestGateway({
    plugins: ["store", "memory-core", "memory-sidecar"],
    workspace: notes,
    clock,
    config: withSidecar(),
  });
  await eventually(async () => (await status()).files === 2);
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => engine.behave({}));

function withSidecar(memory: object = {}, sidecar: object = {}): SvcConfigInput {
  const quick = { command: engine.command, limits: { timeoutMs: 8_000 }, ...sidecar };
  return { memory: { backend: "qmd", sidecar: quick, ...memory } };
}
interface Status {
  backend: string;
  files: number;
  fallback?: { from: string; reason: string };
  lastError?: string;
  custom: { searchMode: string };
}
const status = () => gateway.rpc<Status>("memory.status");
const search = (query: string, options: object = {}): Promise<MemorySearchResult> =>
  gateway.service("memory@1").search("main", query, options);
const warnings = () =>
  gateway.logs.filter(({ level, message }) => level === "warn" && message.includes("memory backend")).map(({ message }) => message);
const doctor = async () => (await gateway.rpc<{ findings: Array<{ id: string; message: string }> }>("gateway.doctor")).findings;

/** Asks the engine again, as after the pause of a fallback. */
async function recovered(): Promise<void> {
  await engine.behave({});
  await gateway.service("memory@1").sync("main", { force: true });
  expect((await status()).backend).toBe("sidecar");
}

describe("the memory of a gateway with the engine", () => {
  test("is searched by it, with citations as everywhere", async () => {
    expect(await search("router", { sessionKey: "agent:main:main" })).toEqual({
      results: [
        {
          ...{ path: "MEMORY.md", startLine: 2, endLine: 3, score: expect.any(Number), source: "memory" },
          snippet: "The router stands in the hall.\n\nSource: MEMORY.md#L2-L3",
          citation: "MEMORY.md#L2-L3",
        },
      ],
      ...{ provider: "sidecar", model: "search", fallback: null, citations: "auto", mode: "fts-only" },
    });
    expect((await search("router", { sessionKey: "agent:main:slack:channel:c" })).results[0]?.citation).toBeUndefined();
    expect((await search("router", { citations: "off" })).results[0]).not.toHaveProperty("citation");
  });

  test("opens no index of its own, and shows the engine's state", async () => {
    await expect.poll(status).toMatchObject({ backend: "sidecar", files: 2, provider: "sidecar", custom: { searchMode: "search" } });
    expect(await gateway.rpc("memory.search", { query: "boiler" })).toMatchObject({
      provider: "sidecar",
      results: [{ path: "memory/day.md" }],
    });
    const health = () => gateway.rpc<{ memoryIndex?: Record<string, unknown> }>("health");
    await expect.poll(health, { timeout: 10_000 }).toMatchObject({ memoryIndex: { main: { files: 2, provider: "sidecar" } } });
  });

  test("gives nothing to a group", async () => {
    const before = (await engine.calls("search")).length;
    expect((await search("router", { sessionKey: "agent:main:telegram:group:7" })).results).toEqual([]);
    expect((await engine.calls("search")).length).toBe(before);
  });

  test("is read by the paths of its hits", async () => {
    const memory = gateway.service("memory@1");
    expect(await memory.get("main", "MEMORY.md", { from: 3, lines: 1 })).toMatchObject({
      text: "The router stands in the hall.",
      from: 3,
      totalLines: 3,
    });
    expect(await memory.get("main", "memory/nowhere.md")).toEqual({ path: "memory/nowhere.md", text: "", from: 1, totalLines: 0 });
    expect(await memory.get("main", "../svc.json")).toMatchObject({ text: "", disabled: true, error: "path required" });
  });

  test("finds a note as soon as it is written and indexed", async () => {
    await writeFile(join(gateway.workspace, "memory/new.md"), "The ladder is in the shed.\n");
    await gateway.service("memory@1").sync("main", { reason: "note" });
    expect((await search("ladder")).results).toMatchObject([{ path: "memory/new.md" }]);
    await rm(join(gateway.workspace, "memory/new.md"));
    await gateway.service("memory@1").sync("main", { reason: "note" });
  });
});

describe("an engine that fails", () => {
  test("is replaced by the builtin one within the limit, with one warning, and asked again after a minute", async () => {
    await engine.behave({ deeds: { search: { hang: true } } });
    // The engine hangs until it is ended: an answer at all is one within the limit.
    const found = await search("router");
    expect(found).toMatchObject({ results: [{ path: "MEMORY.md" }], provider: "none", fallback: { from: "sidecar" } });
    expect(await search("boiler")).toMatchObject({
      results: [{ path: "memory/day.md" }],
      fallback: { from: "sidecar", reason: expect.any(String) },
    });
    expect(await status()).toMatchObject({ backend: "builtin", fallback: { from: "sidecar" } });
    expect(warnings()).toHaveLength(1);
    expect(await gateway.rpc("health")).toMatchObject({
      problems: { memoryIndex: expect.stringContaining('the builtin engine searches in the place of "sidecar"') },
    });

    await engine.behave({});
    await clock.advance(minute);
    await eventually(async () => (await status()).backend === "sidecar");
    expect(await search("router")).toMatchObject({ provider: "sidecar", fallback: null });
  });

  test("gives a group nothing either, whichever engine answers", async () => {
    await engine.behave({ deeds: { search: { stdout: "garbage" } } });
    expect(await search("router")).toMatchObject({ provider: "none", results: [{ path: "MEMORY.md" }] });
    expect((await search("router", { sessionKey: "agent:main:telegram:group:7" })).results).toEqual([]);
    await recovered();
  });

  test("is named by the doctor", async () => {
    await engine.behave({ deeds: { search: { exit: 2, stderr: "no room" } } });
    await search("router");
    expect((await doctor()).map(({ id }) => id)).toContain("memory/backend");
    await recovered();
  });
});

describe("a config that is changed while it runs", () => {
  test("goes from one engine to the other and back", async () => {
    expect(await gateway.reload({ memory: { backend: "builtin" } })).toMatchObject({ status: "applied" });
    await eventually(async () => (await search("router")).results.length === 1);
    expect(await status()).toMatchObject({ backend: "builtin" });
    expect(await gateway.reload(withSidecar({ citations: "off" }, { searchMode: "vsearch" }))).toMatchObject({ status: "applied" });
    expect(await search("router")).toMatchObject({ provider: "sidecar", citations: "off", results: [{ path: "MEMORY.md" }] });
    expect(await gateway.reload(withSidecar())).toMatchObject({ status: "applied" });
  });

  test("that names a backend nobody offers is refused", async () => {
    const outcome = await gateway.reload({ memory: { backend: "attic" } });
    expect(outcome).toMatchObject({
      status: "rejected",
      issues: [{ path: "memory.backend", message: expect.stringContaining("expected one of builtin, sidecar") }],
    });
    await gateway.reload(withSidecar());
  });
});

test("a program that is missing at the start leaves the builtin engine, and one warning", async () => {
  await mkdir(join(folder, "empty"), { recursive: true });
  const own = await createTestGateway({
    plugins: ["memory-core", "memory-sidecar"],
    workspace: notes,
    config: withSidecar({}, { command: join(folder, "empty/qmd"), update: { waitForBootSync: true } }),
  });
  try {
    const found = await eventually(async () => {
      const result = await own.service("memory@1").search("main", "router");
      return result.results.length === 1 && result;
    });
    expect(found.fallback).toEqual({
      from: "sidecar",
      reason: expect.stringContaining("was not found; install it or set memory.sidecar.command"),
    });
    expect(own.logs.filter(({ level, message }) => level === "warn" && message.includes("sidecar"))).toHaveLength(1);
  } finally {
    await own.close();
  }
});

needsDisk().test("an engine that fills its disk is searched by what it had, says so, and goes on once there is room", async () => {
  const own = await createTestGateway({
    plugins: ["memory-core", "memory-sidecar"],
    workspace: notes,
    config: { memory: { backend: "builtin" } },
  });
  const home = engineHome(join(own.stateDir, "agents/main/sidecar"));
  await mkdir(home.cache, { recursive: true });
  const unmount = mountDisk(home.cache, 512 * 1024);
  onTestFinished(async () => {
    unmount();
    await own.close();
  });
  const memory = own.service("memory@1");
  const router = () => memory.search("main", "router");
  expect(await own.reload(withSidecar())).toMatchObject({ status: "applied" });
  await eventually(async () => (await router()).provider === "sidecar" && (await router()).results.length === 1);

  await engine.behave({ deeds: { update: { fill: true } } });
  await writeFile(join(own.workspace, "memory/new.md"), "The ladder is in the shed.\n");
  await expect(memory.sync("main", { force: true })).rejects.toThrow(/ENOSPC|no space/);
  expect((await router()).results).toMatchObject([{ path: "MEMORY.md" }]);
  expect(await own.rpc("memory.status")).toMatchObject({ lastError: expect.stringMatching(/ENOSPC|no space/) });

  await engine.behave({});
  await rm(join(home.engineCache, "log"));
  await memory.sync("main", { force: true });
  expect((await memory.search("main", "ladder")).results).toMatchObject([{ path: "memory/new.md" }]);
});
