import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger, ModelDelta, ModelRequest } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { eventually, modelProviderContract, vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createLocalRuntime } from "../../test/tools/local-runtime.ts";
import { buildChatModel, buildEmbedModel } from "../../test/tools/make-tiny-gguf.mjs";
import { createLocalModelProvider, type LocalModelProvider } from "./provider.ts";
import { resolveLocal } from "./settings.ts";

// One process that loads a native library serves the whole file.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const WINDOW = 2_048;
const note = () => undefined;
const logger: Logger = { trace: note, debug: note, info: note, warn: note, error: note, child: () => logger };
const vendor = vendorIn(join(import.meta.dirname, "../local-runtime"));
/** Reads the same for every request: nothing is left to chance. */
const sampling = { temperature: 0, maxTokens: 24 };

/** Processes that run models for this file. */
async function children(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const own = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const isChild = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]) === process.pid;
      return isChild && (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes("llama.worker");
    }),
  );
  return pids.filter((_, i) => own[i]);
}

const packages = await needsPackages("local-runtime");
packages.describe("with the runtime", runWithModel);

function runWithModel(): void {
  let dir: string;
  let local: LocalModelProvider;
  const hub = createServer((_, res) => void res.writeHead(404).end());
  const env = { PATH: process.env.PATH ?? "", HOME: tmpdir() };
  const { runtime, close } = createLocalRuntime({ vendor, env, logger, maxThreads: 1 });

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-chat-"));
    hub.listen(0, "127.0.0.1");
    await new Promise((resolve) => hub.once("listening", resolve));
    await writeFile(join(dir, "tiny.gguf"), buildChatModel());
    await writeFile(join(dir, "broken.gguf"), "no model");
    const models = [
      { id: "tiny", modelPath: "tiny.gguf", contextWindow: WINDOW },
      { id: "gone", modelPath: "gone.gguf" },
      { id: "broken", modelPath: "broken.gguf" },
      { id: "remote", modelPath: `http://127.0.0.1:${(hub.address() as AddressInfo).port}/no-such.gguf?signature=secret` },
    ];
    const settings = resolveLocal(parseSharedConfig({ models: { providers: { local: { models } } } }), dir);
    if (!settings) throw new Error("no settings");
    local = createLocalModelProvider(settings, () => runtime);
  });
  afterAll(async () => {
    await local.close();
    await close();
    hub.close();
    await rm(dir, { recursive: true, force: true });
  });

  function requestOf(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
    return {
      model: "tiny",
      system: "You are being tested.",
      messages: [{ role: "user", content: [{ type: "text", text }] }],
      tools: [],
      sampling,
      context: { agentId: "main", sessionKey: "agent:main:main", runId: "run" },
      ...more,
    };
  }
  async function ask(request: ModelRequest, signal = new AbortController().signal): Promise<ModelDelta[]> {
    const deltas: ModelDelta[] = [];
    for await (const delta of local.provider.stream(request, { signal })) deltas.push(delta);
    return deltas;
  }
  const textOf = (deltas: ModelDelta[]) => deltas.map((delta) => (delta.type === "text" ? delta.delta : "")).join("");
  const usageOf = (deltas: ModelDelta[]) => {
    const usage = deltas.find((delta) => delta.type === "usage");
    if (!usage) throw new Error("the answer has no usage");
    return usage.usage;
  };

  describe("the provider local", () => {
    modelProviderContract(() => ({
      provider: local.provider,
      // The tiny model never ends by itself; it ends where it says what is said here.
      text: { model: "tiny", sampling: { temperature: 0, maxTokens: 200, stop: ["note"] } },
      slow: { model: "tiny", sampling: { temperature: 0 } },
      faults: {
        model_not_found: { model: "gone" },
        context_overflow: { model: "tiny", system: "word ".repeat(WINDOW) },
        invalid_request: { model: "tiny", tools: [{ name: "look", description: "", inputSchema: {} }], toolChoice: "required" },
      },
      secrets: ["secret"],
    }));
  });

  test("tokens stream, the answer ends at the asked length, and the same request reads the same", async () => {
    const first = await ask(requestOf("hello"));
    expect(first.filter(({ type }) => type === "text").length).toBeGreaterThan(10);
    expect(first.at(-1)).toEqual({ type: "finish", reason: "length" });
    expect(usageOf(first)).toMatchObject({ output: 24 });
    expect(textOf(await ask(requestOf("hello")))).toBe(textOf(first));
  });

  test("what was read of a conversation is not read again, beside another conversation", async () => {
    const long = "a long beginning of a conversation ".repeat(10);
    const first = usageOf(await ask(requestOf(long, { cacheKey: "one" })));
    for (const text of ["something else", "and more"]) await ask(requestOf(text, { cacheKey: "two" }));
    const again = usageOf(await ask(requestOf(`${long}and on`, { cacheKey: "one" })));
    expect(first.input).toBeGreaterThan(300);
    expect(again.cacheRead).toBeGreaterThan(300);
    expect(again.input).toBeLessThan(60);
    expect(again.total).toBe(again.input + again.cacheRead + again.output);
  });

  test("an answer without an asked length ends where the window is full; nothing of the conversation is forgotten for it", async () => {
    const deltas = await ask(requestOf("hello ".repeat(250), { sampling: { temperature: 0 } }));
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "length" });
    expect(usageOf(deltas).total).toBeGreaterThan(WINDOW - 100);
    expect(usageOf(deltas).total).toBeLessThanOrEqual(WINDOW);
  });

  test("a conversation that is too long is counted first and refused with its numbers", async () => {
    const error = await ask(requestOf("hello ".repeat(500))).catch((reason: Error) => reason);
    expect(error).toMatchObject({ name: "ModelError", fault: "context_overflow" });
    expect((error as Error).message).toMatch(
      /^local: tiny\.gguf: the conversation has 3\d\d\d tokens, .* window is 2048 .* 24 for the answer$/,
    );
  });

  test("an abort before the first token and one after it leave a process that answers the next request", async () => {
    for (const tokens of [0, 1]) {
      const stop = new AbortController();
      const aborted = (async () => {
        const turn = local.provider.stream(requestOf("word ".repeat(330), { sampling: { temperature: 0 } }), { signal: stop.signal });
        const deltas = turn[Symbol.asyncIterator]();
        if (tokens === 0) setImmediate(() => stop.abort());
        await deltas.next();
        stop.abort();
        await deltas.next();
      })();
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
      const before = await children();
      expect(textOf(await ask(requestOf("hello")))).not.toBe("");
      expect(await children()).toEqual(before);
    }
  });

  test("a process that is killed fails what it was at as overloaded, and the next request starts another", async () => {
    const turn = local.provider.stream(requestOf("hello", { sampling: { temperature: 0 } }), { signal: new AbortController().signal });
    const deltas = turn[Symbol.asyncIterator]();
    await deltas.next();
    for (const pid of await children()) process.kill(pid, "SIGKILL");
    const rest = (async () => {
      while (!(await deltas.next()).done);
    })();
    await expect(rest).rejects.toMatchObject({
      name: "ModelError",
      fault: "overloaded",
      message: expect.stringContaining("signal SIGKILL"),
    });
    expect(textOf(await ask(requestOf("hello")))).not.toBe("");
  });

  test("an answer that must be JSON by a schema is", async () => {
    const schema = { type: "object", properties: { word: { enum: ["yes", "no"] }, count: { const: 3 } }, required: ["word"] };
    const deltas = await ask(
      requestOf("hello", { sampling: { temperature: 0, maxTokens: 200, responseFormat: { type: "json_schema", schema } } }),
    );
    expect(JSON.parse(textOf(deltas))).toEqual({ word: expect.stringMatching(/^(yes|no)$/), count: 3 });
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  test("tools are offered, and earlier calls with their results are read", async () => {
    const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object", properties: { at: { type: "string" } } } }];
    const call = { type: "toolCall" as const, id: "call_1", name: "look", args: { at: "door" } };
    const messages: ModelRequest["messages"] = [
      { role: "user", content: [{ type: "text", text: "hello" }] },
      { role: "assistant", content: [{ type: "text", text: "ok" }, call] },
      { role: "tool", toolCallId: "call_1", name: "look", text: "shut" },
    ];
    const plain = usageOf(await ask(requestOf("hello")));
    const offered = usageOf(await ask(requestOf("hello", { tools })));
    const answered = usageOf(await ask(requestOf("hello", { tools, messages })));
    expect(offered.input + offered.cacheRead).toBeGreaterThan(plain.input + plain.cacheRead);
    expect(answered.input + answered.cacheRead).toBeGreaterThan(offered.input + offered.cacheRead);
  });

  test.each([
    ["gone", /^local: gone\.gguf: there is no such file; see modelPath of "gone"/],
    ["broken", /^local: broken\.gguf: the model file cannot be loaded: /],
    ["other", /^local: there is no model "other"; models\.providers\.local\.models has tiny, gone/],
  ])("the model %s is refused by name, and the others go on", async (model, message) => {
    const error = { name: "ModelError", fault: "model_not_found", message: expect.stringMatching(message) };
    await expect(ask(requestOf("hello", { model }))).rejects.toMatchObject(error);
    expect(textOf(await ask(requestOf("hello")))).not.toBe("");
  });

  test("no request waits for a download; one that fails is told to the next request, without what follows the question mark", async () => {
    const first = await ask(requestOf("hello", { model: "remote" })).catch((error: Error) => error);
    expect(first).toMatchObject({ fault: "overloaded", message: expect.stringContaining("its download begins now") });
    const told = await eventually(async () => {
      const error = (await ask(requestOf("hello", { model: "remote" })).catch((reason: Error) => reason)) as Error;
      return error.message.includes("cannot be downloaded") && error;
    });
    expect(told).toMatchObject({ fault: "model_not_found", message: expect.not.stringContaining("secret") });
  });

  test("of 35 requests at a time one is refused, and those that leave the queue make room", async () => {
    const stops = Array.from({ length: 35 }, () => new AbortController());
    const endless = requestOf("hello", { sampling: { temperature: 0 } });
    const many = stops.map(({ signal }) => ask(endless, signal).catch((error: Error) => error));
    expect(await Promise.race(many)).toMatchObject({ fault: "overloaded", message: expect.stringContaining("32 requests are waiting") });
    for (const stop of stops) stop.abort();
    const names = (await Promise.all(many)).map((outcome) => (outcome instanceof Error ? outcome.name : "answered"));
    expect(names.filter((name) => name === "AbortError")).toHaveLength(34);
    expect(textOf(await ask(requestOf("hello")))).not.toBe("");
  });

  test("vectors and answers come from one process at the same time", async () => {
    const path = join(dir, "embed.gguf");
    await writeFile(path, buildEmbedModel());
    const embedder = runtime.embedder({
      source: { kind: "file", path, name: "embed.gguf" },
      size: undefined,
      directory: undefined,
      maxTokens: 512,
    });
    const answer = ask(requestOf("hello"));
    expect(await embedder.embed("my car", { kind: "query", signals: [] })).toHaveLength(64);
    expect(textOf(await answer)).not.toBe("");
    await embedder.close();
    expect(textOf(await ask(requestOf("hello")))).not.toBe("");
  });

  test("the list says how large the window is", async () => {
    expect(await local.provider.models()).toEqual([
      { id: "tiny", contextWindow: WINDOW, input: ["text"] },
      ...["gone", "broken", "remote"].map((id) => expect.objectContaining({ id, contextWindow: 8_192 })),
    ]);
  });
}
