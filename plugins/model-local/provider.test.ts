import { type LocalChatOptions, type LocalChatPiece, type LocalRuntime, ModelError, type ModelRequest } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { eventually } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { localFindings } from "./doctor.ts";
import { createLocalModelProvider } from "./provider.ts";
import { type LocalSettings, resolveLocal } from "./settings.ts";

const settingsOf = (local: object): LocalSettings => {
  const settings = resolveLocal(parseSharedConfig({ models: { providers: { local } } } as never), "/nowhere");
  if (!settings) throw new Error("no settings");
  return settings;
};
const settings = settingsOf({ models: [{ id: "a", modelPath: "hf:owner/repo/a.gguf" }] });
const request: ModelRequest = {
  model: "a",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  tools: [],
  context: { agentId: "main", sessionKey: "s", runId: "r" },
};
const MISSING = 'its package "node-llama-cpp" is not installed; run: svc models runtime install';

/** A runtime that may be missing, whose models say how often they were borrowed. */
function fakeRuntime(state = { isMissing: false, isClosed: false, borrowed: 0, closed: 0 }) {
  const runtime: LocalRuntime = {
    async check() {
      if (state.isMissing) throw new Error(MISSING);
    },
    download: () => Promise.reject(new Error("not asked for")),
    embedder: () => {
      throw new Error("not asked for");
    },
    chat() {
      state.borrowed++;
      return {
        async *stream(): AsyncGenerator<LocalChatPiece> {
          if (state.isMissing) throw new ModelError("model_not_found", `local: ${MISSING}`);
          yield { type: "finish", reason: "stop", calls: [], usage: { prompt: 1, cached: 0, output: 1, thought: 0 } };
        },
        contextWindow: () => 4_096,
        get isClosed() {
          return state.isClosed;
        },
        close: async () => void state.closed++,
      };
    },
  };
  return { state, runtime };
}

async function ask(provider: ReturnType<typeof createLocalModelProvider>["provider"]): Promise<void> {
  for await (const _ of provider.stream(request, { signal: new AbortController().signal }));
}

test("without the runtime the provider names the command, and is of use as soon as it is installed", async () => {
  const { state, runtime } = fakeRuntime();
  state.isMissing = true;
  const { provider } = createLocalModelProvider(settings, () => runtime);
  await eventually(async () => !provider.available().ok);
  expect(provider.available()).toEqual({ ok: false, reason: MISSING });
  expect(await provider.probe?.({ signal: new AbortController().signal })).toEqual({
    ok: false,
    fault: "model_not_found",
    reason: MISSING,
  });
  await expect(ask(provider)).rejects.toMatchObject({
    fault: "model_not_found",
    message: expect.stringContaining("svc models runtime install"),
  });

  state.isMissing = false;
  await eventually(async () => provider.available().ok);
});

test("a runtime that nobody provides is a reason, not a fault of the plugin", async () => {
  const { provider } = createLocalModelProvider(settings, () => {
    throw new Error("nobody provides local-runtime@1");
  });
  await eventually(async () => !provider.available().ok);
  expect(provider.available()).toEqual({ ok: false, reason: "nobody provides local-runtime@1" });
});

test("a model is borrowed once, and again from a runtime that took the place of its own", async () => {
  const { state, runtime } = fakeRuntime();
  const { provider } = createLocalModelProvider(settings, () => runtime);
  await ask(provider);
  await ask(provider);
  expect(state.borrowed).toBe(1);
  expect(await provider.models()).toMatchObject([{ id: "a", contextWindow: 4_096 }]);
  state.isClosed = true;
  await ask(provider);
  expect(state.borrowed).toBe(2);
});

test("two first requests borrow a model once, and one that could not be borrowed is tried again", async () => {
  const { state, runtime } = fakeRuntime();
  let isThere = true;
  const { provider, close } = createLocalModelProvider(settings, () => {
    if (!isThere) throw new Error("nobody provides local-runtime@1");
    // As a gateway hands it out: the first call may load the plugin.
    return { ...runtime, chat: async (options: LocalChatOptions) => runtime.chat(options) } as unknown as LocalRuntime;
  });
  isThere = false;
  await expect(ask(provider)).rejects.toThrow("nobody provides");
  isThere = true;
  await Promise.all([ask(provider), ask(provider)]);
  expect(state.borrowed).toBe(1);
  await close();
  expect(state.closed).toBe(1);
});

test("the doctor names an entry without models, unknown parameters and files that are not there", async () => {
  expect(await localFindings(settings)).toEqual([]);
  const found = async (local: object) => (await localFindings(settingsOf(local))).map(({ message }) => message);
  expect(await found({})).toEqual(["no model is named"]);
  expect(await found({ params: { nonsense: 1 }, models: [{ id: "a", modelPath: "a.gguf" }] })).toEqual([
    expect.stringContaining('"nonsense"'),
    'local: a.gguf: there is no such file; see modelPath of "a" in models.providers.local.models',
  ]);
});
