import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestGateway, eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ModelHub, startModelHub } from "../../../test/fakes/model-hub.ts";
import { vendorPackages } from "../../../test/tools/installed-plugins.ts";
import { buildEmbedModel } from "../../../test/tools/make-tiny-gguf.mjs";
import { svc as run } from "../../../test/tools/svc.ts";

/** Stands in for the library of models where it is not installed: vectors of eight numbers. */
const LIBRARY = `
import { existsSync } from "node:fs";
export const LlamaLogLevel = { error: "error" };
export const LlamaChat = class {};
export async function resolveModelFile(model) {
  if (!existsSync(model)) throw new Error("no such file");
  return model;
}
export const getLlama = async () => ({
  dispose: async () => undefined,
  async loadModel() {
    const getEmbeddingFor = async (tokens) => ({ vector: Array.from({ length: 8 }, (_, i) => 1 + tokens.filter((token) => token % 8 === i).length) });
    return {
      embeddingVectorSize: 8,
      trainContextSize: 512,
      tokenize: (text) => [...text].map((char) => char.charCodeAt(0)),
      createEmbeddingContext: async () => ({ getEmbeddingFor }),
      dispose: async () => undefined,
    };
  },
});
`;

const PATH = "owner/tiny-GGUF/tiny.gguf";
const plugins = ["store", "memory-core", "embed-local", "local-runtime"];
let stateDir: string;
let hub: ModelHub;
let models: string;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-provider-"));
  models = join(stateDir, "models");
  hub = await startModelHub({ [PATH]: buildEmbedModel() });
  await configured({ provider: "none" });
  await put("workspace/MEMORY.md", "# Home\n\nThe router stands in the hall cupboard.\n");
  await installLibrary();
});
afterEach(async () => {
  await hub.close();
  await rm(stateDir, { recursive: true, force: true });
});

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(stateDir, path)), { recursive: true });
  await writeFile(join(stateDir, path), content);
}

const memorySearch = (more: object) => ({ local: { modelPath: `hf:${PATH}`, modelCacheDir: models }, ...more });
const configured = (more: object) =>
  put(
    "svc.json",
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "a-token-for-this-test" } },
      agents: { defaults: { memorySearch: memorySearch(more) } },
    }),
  );

/** As `svc models runtime install` leaves it. */
async function installLibrary(): Promise<void> {
  const vendor = vendorPackages(stateDir);
  const root = join(import.meta.dirname, "../../local-runtime");
  const locked = await vendor.locked(root);
  const folder = join(vendor.folder("local-runtime"), locked?.hash ?? "", "node_modules/node-llama-cpp");
  await mkdir(folder, { recursive: true });
  const version = locked?.direct.get("node-llama-cpp");
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "node-llama-cpp", version, type: "module", main: "index.js", exports: "./index.js" }),
  );
  await writeFile(join(folder, "index.js"), LIBRARY);
}

const env = () => ({ PATH: process.env.PATH ?? "", HOME: stateDir, SVC_STATE_DIR: stateDir, NO_COLOR: "1", HF_ENDPOINT: hub.endpoint });
const svc = (...args: string[]) => run(args, { env: env(), cwd: stateDir });
const written = async () =>
  (JSON.parse(await readFile(join(stateDir, "svc.json"), "utf8")) as { agents: { defaults: { memorySearch: object }; list?: object[] } })
    .agents;
const gatewayHere = () =>
  createTestGateway({
    stateDir,
    plugins,
    env: { HOME: stateDir, HF_ENDPOINT: hub.endpoint },
    config: { agents: { defaults: { memorySearch: memorySearch({ provider: "none" }) } } },
  });

test("without a gateway: the model comes with its progress, the config names the provider, and the next index has vectors", async () => {
  const set = await svc("memory", "provider", "set", "local");
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("agents.defaults.memorySearch.provider: local\nThe index is rebuilt when the gateway starts"),
  });
  expect(set.stderr).toMatch(/The packages of local-runtime are installed.*downloading the model: 100 % of \d/s);
  expect(await readdir(models)).toEqual(["hf_owner_tiny.gguf"]);
  expect((await written()).defaults.memorySearch).toMatchObject({ provider: "local" });
  expect((await svc("memory", "index")).stdout).toContain("main: 1 files, 1 chunks");
  // Each of these processes loads the model anew; on a busy machine one may answer by words when its time is up.
  await eventually(async () => {
    expect(JSON.parse((await svc("memory", "search", "router", "--json")).stdout)).toMatchObject({
      provider: "local",
      searchMode: "hybrid",
    });
    return true;
  }, 40_000);
});

test("with a gateway: it downloads, takes the config over while it runs, and rebuilds in the background", async () => {
  const gateway = await gatewayHere();
  try {
    await eventually(async () => (await gateway.rpc<{ files: number }>("memory.status")).files === 1);
    const set = await svc("memory", "provider", "set", "local");
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining("The index is rebuilt in the background") });
    await eventually(async () => (await gateway.rpc<{ vector: { dims?: number } }>("memory.status")).vector.dims !== undefined);
    expect(await gateway.rpc("memory.search", { query: "router" })).toMatchObject({ provider: "local", searchMode: "hybrid" });
    // The file is there, so it answers at once; others are refused.
    const client = await gateway.client();
    const prepare = (provider: string) => client.request("memory.prepare", { provider }, { onAccepted: () => undefined });
    expect(await prepare("local")).toEqual({ agentId: "main", provider: "local" });
    await expect(prepare("word2vec")).rejects.toThrow('no plugin offers the embedding adapter "word2vec"');
  } finally {
    await gateway.close();
  }
});

test("a download that fails changes nothing in the config, and goes on with the next try", async () => {
  Object.assign(hub.faults, { stallAfter: 1_000 });
  const setting = svc("memory", "provider", "set", "local");
  await eventually(async () => (await stat(join(models, "hf_owner_tiny.gguf.part"))).size > 0);
  Object.assign(hub.faults, { status: 404, always: true });
  hub.cut();
  const failed = await setting;
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/embedding adapter "local": the model hf:\S+ was not downloaded: .*status code 404/),
  });
  expect((await written()).defaults.memorySearch).toMatchObject({ provider: "none" });
  Object.assign(hub.faults, { status: undefined, always: false });
  expect(await svc("memory", "provider", "set", "local", "--json")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"provider"'),
  });
  expect(hub.requests.at(-1)).toMatch(/^cdn GET bytes=[1-9]/);
});

test("a SHA-256 in the config that the model does not have is refused before anything is fetched", async () => {
  await configured({ provider: "none", local: { modelPath: `hf:${PATH}`, modelCacheDir: models, sha256: "0".repeat(64) } });
  const failed = await svc("memory", "provider", "set", "local");
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(`local.sha256 is ${"0".repeat(64)}, and its server announces`) });
  expect(await readdir(models)).toEqual([]);
});

test("a provider whose model is missing leaves searches to words, with a warning", async () => {
  await configured({ provider: "local" });
  hub.faults.status = 404;
  hub.faults.always = true;
  const gateway = await createTestGateway({
    stateDir,
    plugins,
    env: { HOME: stateDir, HF_ENDPOINT: hub.endpoint },
    config: { agents: { defaults: { memorySearch: memorySearch({ provider: "local" }) } } },
  });
  try {
    await eventually(async () => (await gateway.rpc<{ files: number }>("memory.status")).files === 1);
    const found = await gateway.rpc("memory.search", { query: "router" });
    expect(found).toMatchObject({ results: [{ path: "MEMORY.md" }], warning: expect.stringMatching(/model/) });
  } finally {
    await gateway.close();
  }
});

test("another provider is set by its name alone; what is none is refused with those that are", async () => {
  await configured({ provider: "openai", model: "text-embedding-3-small", outputDimensionality: 256 });
  expect((await svc("memory", "provider", "set", "none")).code).toBe(0);
  expect((await written()).defaults.memorySearch).toEqual(memorySearch({ provider: "none" }));
  expect((await svc("memory", "provider", "set", "word2vec")).stderr).toMatch(
    /expected one of bedrock, gemini, local, .*none, got "word2vec"/,
  );
  expect((await svc("memory", "provider", "set", "openai", "--model", "x")).stderr).toContain("--model is for local");
  expect((await svc("memory", "provider", "set", "local", "--agent", "nobody")).stderr).toContain('unknown agent id "nobody"');
});
