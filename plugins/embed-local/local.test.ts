import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddingAdapter, EmbeddingContext, EmbeddingProvider, Logger } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { embeddingContract, eventually, vendorIn } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { needsPackages } from "../../test/servers/vendored.ts";
import { createLocalRuntime, type LocalRuntimeOptions } from "../../test/tools/local-runtime.ts";
import { buildChatModel, buildEmbedModel } from "../../test/tools/make-tiny-gguf.mjs";
import { createLocalAdapter } from "./adapter.ts";

// Nearly each test starts a process that loads a native library.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const runtimeFolder = join(import.meta.dirname, "../local-runtime");
const vendor = vendorIn(runtimeFolder);
const env = { PATH: process.env.PATH ?? "", HOME: tmpdir() };
const own: Array<() => Promise<unknown> | unknown> = [];
const logged: string[] = [];
const note = (message: string) => void logged.push(message);
const logger: Logger = { trace: note, debug: note, info: note, warn: note, error: note, child: () => logger };

let dir: string;
let modelPath: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-local-"));
  modelPath = join(dir, "tiny.gguf");
  await writeFile(modelPath, buildEmbedModel());
});
afterAll(() => rm(dir, { recursive: true, force: true }));
afterEach(async () => {
  for (const end of own.splice(0).reverse()) await end();
  logged.length = 0;
});

function adapterWith(options: Partial<LocalRuntimeOptions> = {}): EmbeddingAdapter {
  const { runtime, close } = createLocalRuntime({ vendor, env, logger, maxThreads: 1, ...options });
  own.push(close);
  return createLocalAdapter({ runtime, base: dir });
}

function contextWith(context: Partial<EmbeddingContext> = {}): EmbeddingContext {
  return {
    agentId: "main",
    auto: false,
    config: parseSharedConfig({}),
    logger,
    clock: { now: Date.now, monotonic: () => performance.now() },
    signal: new AbortController().signal,
    local: { modelPath },
    ...context,
  };
}

async function opened(context: Partial<EmbeddingContext> = {}, adapter = adapterWith()): Promise<EmbeddingProvider> {
  const { provider } = await adapter.create(contextWith(context));
  own.push(() => provider.close?.());
  return provider;
}

function similarity(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

/** Processes that this one started. */
async function children(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
    }),
  );
  return pids.filter((_, i) => parents[i] === process.pid);
}

describe("choosing a model", () => {
  test.each([
    ["no path", undefined],
    ["a blank path", " "],
    ["a path that is not there", "/nowhere/model.gguf"],
    ["a folder", tmpdir()],
    ["a reference to a hub", "hf:owner/repo/model.gguf"],
    ["an address", "https://example.org/model.gguf"],
  ])("auto-detection passes over %s", async (_, path) => {
    const local = path === undefined ? {} : { modelPath: path };
    await expect(adapterWith().create(contextWith({ auto: true, local }))).rejects.toMatchObject({ fault: "no-credentials" });
  });

  test("a file that is not there stops an explicit choice", async () => {
    const error = { fault: "model", message: expect.stringContaining("/nowhere/model.gguf: expected a GGUF model file") };
    await expect(opened({ local: { modelPath: "/nowhere/model.gguf" } })).rejects.toMatchObject(error);
  });

  test("a caller cannot name another model than the config does, for it would be read or downloaded", async () => {
    await expect(opened({ model: "https://example.org/x.gguf" })).rejects.toMatchObject({ fault: "model" });
    await expect(opened({ model: "/etc/passwd", local: {} })).rejects.toMatchObject({ fault: "model" });
  });

  test("without the runtime the error names the command that installs it", async () => {
    const bare = join(dir, "local-runtime");
    await cp(join(runtimeFolder, "vendor"), join(bare, "vendor"), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    });
    const attempt = opened({}, adapterWith({ vendor: vendorIn(bare) }));
    const message = expect.stringContaining("run: svc models runtime install");
    await expect(attempt).rejects.toMatchObject({ fault: "model", message });
  });
});

const runtime = await needsPackages("local-runtime");
runtime.describe("with the runtime", runWithModel);

function runWithModel(): void {
  /** For every test that needs no process of its own. As in a gateway whose index holds the model open, else each would start it anew. */
  const { runtime: usualRuntime, close } = createLocalRuntime({ vendor, env, logger, maxThreads: 1 });
  const usual = createLocalAdapter({ runtime: usualRuntime, base: tmpdir() });
  let keeper: EmbeddingProvider;
  let usualPid: number;
  beforeAll(async () => {
    const before = await children();
    keeper = (await usual.create(contextWith())).provider;
    await keeper.embedQuery("car");
    usualPid = (await children()).find((pid) => !before.includes(pid)) as number;
  });
  afterAll(async () => {
    await keeper.close?.();
    await close();
  });

  describe("the adapter local", () => {
    const local = {
      get modelPath() {
        return modelPath;
      },
    };
    embeddingContract(usual, { context: { local } });
  });

  describe("identity and limits", () => {
    test("auto-detection takes an existing file; name, size and prefix make the identity, not the folder", async () => {
      const adapter = adapterWith();
      const first = await adapter.create(contextWith({ auto: true }));
      const moved = join(dir, "elsewhere", "tiny.gguf");
      await mkdir(join(dir, "elsewhere"), { recursive: true });
      await writeFile(moved, buildEmbedModel());
      const second = await adapter.create(contextWith({ local: { modelPath: moved } }));
      expect(first.identity).toEqual(second.identity);
      expect(first.identity).toEqual({ adapter: "local", model: "tiny.gguf", size: (await stat(modelPath)).size, prefix: "none" });
      await writeFile(moved, buildEmbedModel({ dim: 32 }));
      expect((await adapter.create(contextWith({ local: { modelPath: moved } }))).identity).not.toEqual(first.identity);
    });

    test("the default model has 768 dimensions and the prompts of its family; nothing is downloaded to open it", async () => {
      const { provider, identity } = await adapterWith().create(contextWith({ local: {} }));
      expect(provider).toMatchObject({ id: "local", dims: 768, maxInputTokens: 2_048, normalized: true });
      expect(identity).toMatchObject({ dims: 768, prefix: "embeddinggemma" });
      const other = adapterWith().create(contextWith({ local: {}, outputDimensionality: 512 }));
      await expect(other).rejects.toMatchObject({ fault: "invalid-request", message: expect.stringContaining("768") });
    });

    test("another length than the model's is refused with the length it has", async () => {
      const provider = await opened({ outputDimensionality: 100 }, usual);
      const error = { fault: "invalid-request", message: expect.stringContaining("gives 64 dimensions") };
      await expect(provider.embedQuery("car")).rejects.toMatchObject(error);
    });

    test("texts as long as the context and longer ones are cut, not refused", async () => {
      const provider = await opened({}, usual);
      for (const words of [508, 509, 510, 511, 512, 600, 5_000]) {
        expect((await provider.embedBatch(["car ".repeat(words)]))[0]).toHaveLength(64);
      }
    });

    test("a text without a word is refused", async () => {
      await expect((await opened({}, usual)).embedBatch([" \n"])).rejects.toMatchObject({ fault: "invalid-request" });
    });

    test("the prompts of a family are put before queries and documents", async () => {
      const gemma = join(dir, "embeddinggemma-tiny.gguf");
      await writeFile(gemma, buildEmbedModel());
      const [plain, prompted] = [await opened({}, usual), await opened({ local: { modelPath: gemma } }, usual)];
      const [query] = await plain.embedBatch(["task: search result | query: car"]);
      const [document] = await plain.embedBatch(["title: none | text: car"]);
      expect(similarity(await prompted.embedQuery("car"), query as Float32Array)).toBeCloseTo(1, 4);
      expect(similarity((await prompted.embedBatch(["car"]))[0] as Float32Array, document as Float32Array)).toBeCloseTo(1, 4);
    });
  });

  describe("a model at work", () => {
    test("texts of one meaning come out near each other, others do not", async () => {
      const provider = await opened({}, usual);
      const [car, cat] = (await provider.embedBatch(["my car is fast", "the kitten sleeps on the sofa"])) as [Float32Array, Float32Array];
      const query = await provider.embedQuery("the automobile is quick");
      expect(similarity(query, car)).toBeGreaterThan(0.7);
      expect(similarity(query, cat)).toBeLessThan(0.5);
    });

    test("a query does not wait for documents that were asked for before it", async () => {
      const provider = await opened({}, usual);
      await provider.embedQuery("warm");
      let left = 300;
      const documents = Array.from({ length: left }, (_, i) => provider.embedBatch([`note ${i}`]).then(() => void left--));
      await provider.embedQuery("car");
      expect(left).toBeGreaterThan(250);
      await Promise.all(documents);
    });

    test("two agents with one model share one process, which ends with the last of them; their close rejects what is under way", async () => {
      const adapter = adapterWith();
      const before = await children();
      const [one, two] = [await opened({ agentId: "a" }, adapter), await opened({ agentId: "b" }, adapter)];
      await Promise.all([one.embedQuery("car"), two.embedQuery("car")]);
      expect((await children()).filter((pid) => !before.includes(pid))).toHaveLength(1);
      await one.close?.();
      await expect(one.embedQuery("car")).rejects.toThrow("closed");
      expect(await two.embedQuery("car")).toHaveLength(64);
      const rejected = expect(two.embedBatch(Array(500).fill("car"))).rejects.toThrow("closed");
      await two.close?.();
      await rejected;
      expect((await children()).filter((pid) => !before.includes(pid))).toEqual([]);
    });

    test("an unused model is unloaded and comes back with the next text", async () => {
      const before = await children();
      const provider = await opened({}, adapterWith({ idleMs: 1 }));
      await provider.embedQuery("car");
      await eventually(async () => (await children()).every((pid) => before.includes(pid)));
      expect(await provider.embedQuery("car")).toHaveLength(64);
    });

    test("a process that is killed fails what it was doing, and the next text starts another", async () => {
      const provider = await opened({}, usual);
      const lost = Promise.allSettled(Array.from({ length: 50 }, () => provider.embedBatch(["car"])));
      process.kill(usualPid, "SIGKILL");
      const failures = (await lost).filter((one) => one.status === "rejected");
      for (const { reason } of failures) expect(reason).toMatchObject({ fault: "overloaded" });
      expect(failures.length).toBeGreaterThan(0);
      expect(await provider.embedQuery("car")).toHaveLength(64);
    });

    test.each([
      ["is no model", () => Buffer.from("not a model at all, only some words")],
      ["ends in the middle", () => buildEmbedModel().subarray(0, 100_000)],
    ])("a file that %s is refused by name and harms nobody", async (_, make) => {
      const broken = join(dir, "broken.gguf");
      await writeFile(broken, make());
      const provider = await opened({ local: { modelPath: broken } }, usual);
      const message = expect.stringMatching(/^local: broken\.gguf: /);
      await expect(provider.embedQuery("car")).rejects.toMatchObject({ name: "EmbeddingError", message });
      await expect(provider.embedQuery("car")).rejects.toMatchObject({ name: "EmbeddingError", message });
      expect(await keeper.embedQuery("car")).toHaveLength(64);
    });

    test("a model made for chat gives vectors too or is refused", async () => {
      const chat = join(dir, "chat.gguf");
      await writeFile(chat, buildChatModel());
      const outcome = await (await opened({ local: { modelPath: chat } }, usual)).embedQuery("car").catch((error: unknown) => error);
      expect(outcome instanceof Float32Array || (outcome as Error).name === "EmbeddingError").toBe(true);
    });
  });

  describe("a download", () => {
    let hub: Server;
    let url: string;
    let served: string[];
    /** Bytes after which an answer stops; undefined: none does. */
    let stallAfter: number | undefined;
    let status: number;
    beforeAll(async () => {
      hub = createServer((req, res) => {
        served.push(`${req.method} ${req.url}`);
        if (status !== 200) return void res.writeHead(status).end("no");
        const bytes = buildEmbedModel();
        const [, from = "0", to] = /bytes=(\d+)-(\d*)/.exec(req.headers.range ?? "") ?? [];
        const [start, end] = [Number(from), to ? Number(to) : bytes.length - 1];
        res.writeHead(req.headers.range ? 206 : 200, {
          "content-length": end - start + 1,
          "accept-ranges": "bytes",
          ...(req.headers.range ? { "content-range": `bytes ${start}-${end}/${bytes.length}` } : {}),
        });
        if (req.method === "HEAD") return void res.end();
        if (stallAfter === undefined) res.end(bytes.subarray(start, end + 1));
        else res.write(bytes.subarray(start, start + stallAfter));
      }).listen(0, "127.0.0.1");
      await new Promise((resolve) => hub.once("listening", resolve));
      url = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/models/remote.gguf`;
    });
    afterAll(() => {
      hub.closeAllConnections();
      hub.close();
    });
    afterEach(() => {
      stallAfter = undefined;
    });
    const cache = async () => mkdtemp(join(dir, "models-"));
    const begin = async (local: NonNullable<EmbeddingContext["local"]>, adapter = usual) => {
      [served, status] = [[], 200];
      return opened({ local }, adapter);
    };

    test("never happens for a query; documents bring it, with its progress in the log, and then queries work", async () => {
      const modelCacheDir = await cache();
      const provider = await begin({ modelPath: `${url}?signature=secret`, modelCacheDir });
      expect(provider.model).toBe(url);
      await expect(provider.embedQuery("car")).rejects.toMatchObject({ fault: "not-ready" });
      expect(served).toEqual([]);
      expect((await provider.embedBatch(["my car is fast"]))[0]).toHaveLength(64);
      expect(await provider.embedQuery("car")).toHaveLength(64);
      expect((await readdir(modelCacheDir)).length).toBe(1);
      expect(logged).toContainEqual(expect.stringContaining(`downloading the model ${url}`));
      expect(logged).toContainEqual(expect.stringContaining("100 % of 0.3 MB"));
      expect(logged.join()).not.toContain("secret");
    });

    test("under way makes queries fail at once, and a close stops it; the next one brings the model", async () => {
      stallAfter = 100_000;
      const modelCacheDir = await cache();
      // A process of its own: its end is what stops the download.
      const provider = await begin({ modelPath: url, modelCacheDir }, adapterWith());
      const documents = provider.embedBatch(["my car is fast"]);
      documents.catch(() => undefined);
      await eventually(() => served.some((line) => line.startsWith("GET")));
      await eventually(async () => {
        const error = await provider.embedQuery("car").catch((reason: Error) => reason);
        return (error as Error).message.includes("is being downloaded");
      });
      await provider.close?.();
      await expect(documents).rejects.toThrow("closed");
      stallAfter = undefined;
      const again = await begin({ modelPath: url, modelCacheDir });
      expect((await again.embedBatch(["my car is fast"]))[0]).toHaveLength(64);
    });

    test.each([
      [404, "model"],
      [403, "auth"],
    ])("that the server answers with %i is a fault of class %s, without what follows the question mark", async (code, fault) => {
      const provider = await begin({ modelPath: `${url}?signature=secret`, modelCacheDir: await cache() });
      status = code;
      const error = await provider.embedBatch(["car"]).catch((reason: Error) => reason);
      expect(error).toMatchObject({ fault, message: expect.not.stringContaining("secret") });
    });

    test("of a reference to a hub finds its file by the hub's rules", async () => {
      const modelCacheDir = await cache();
      const endpoint = new URL("/", url).href;
      const adapter = adapterWith({ env: { ...env, HF_ENDPOINT: endpoint } });
      const provider = await begin({ modelPath: "hf:owner/repo/tiny.gguf", modelCacheDir }, adapter);
      expect((await provider.embedBatch(["car"]))[0]).toHaveLength(64);
      expect(served).toContainEqual(expect.stringContaining("/owner/repo/resolve/main/tiny.gguf"));
      expect(existsSync(join(modelCacheDir, (await readdir(modelCacheDir))[0] as string))).toBe(true);
    });
  });
}
