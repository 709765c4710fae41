import { isModelError, type ModelProvider, type SvcConfig } from "svc/sdk";
import { createVendorFetch, parseSharedConfig } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { withFailover } from "../../plugins/agents/models/attempts.ts";
import { Cooldown } from "../../plugins/agents/models/cooldown.ts";
import { silenceLimits } from "../../plugins/agents/models/silence.ts";
import { readTurn } from "../../plugins/agents/models/turn.ts";
import { createProvider } from "../../plugins/model-openai-compatible/provider.ts";
import { vendors } from "../../plugins/model-openai-compatible/vendors.ts";
import { resolveProviders } from "../../sdk/internal/model/settings.ts";
import { okText } from "../fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { modelRequest, quiet } from "../fixtures/model-provider.ts";

/** A server that takes minutes for its first word, on a real connection; the timers of the turn and of the connection are moved by the test. */

let vendor: FakeOpenAi;
let connections: TestRequests;
let config: SvcConfig;
let provider: ModelProvider;

beforeAll(async () => {
  vendor = await startFakeOpenAi();
  connections = createTestRequests();
  const ids = ["ok", "silent-at-head", "silent-behind-head"];
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, timeoutSeconds: 300, models: ids.map((id) => ({ id })) };
  config = parseSharedConfig({ models: { providers: { lab } } }) as SvcConfig;
  const { providers } = resolveProviders(config.models.providers, { api: "openai-completions", vendors, env: () => undefined });
  const [settings] = providers;
  if (!settings) throw new Error("the config has no provider");
  const deps = { fetch: createVendorFetch(connections.request, settings.timeoutMs), clock: { now: () => 0, monotonic: () => 0 } };
  provider = createProvider(settings, { ...deps, logger: quiet });
  // Loads what a call needs, and opens the connection: its own timers are not those of the test.
  expect(await ask("ok")).toBe(okText);
});

beforeEach(() => {
  vendor.requests.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

afterAll(async () => {
  await connections.close();
  await vendor.close();
});

/** A turn of a run, as its loop makes it. @returns the answer, or the fault and the words of its end */
async function ask(model: string): Promise<string> {
  const signal = new AbortController().signal;
  const turn = withFailover({
    candidates: [{ provider, model }],
    cooldown: new Cooldown(() => 0),
    isCurrent: () => true,
    attempt: () =>
      readTurn((stop) => provider.stream(modelRequest(model), { signal: stop }), {
        ...{ signal, onText: () => undefined },
        ...silenceLimits(config, provider),
      }),
    isVisible: () => false,
    mayFailover: () => true,
    shrink: () => false,
    onRetry: () => undefined,
    pause: async () => undefined,
    random: () => 0,
  });
  return turn.then(
    ({ value }) => value.text,
    (error: unknown) => (isModelError(error) ? `${error.fault}: ${error.message}` : String(error)),
  );
}

const asked = () => vendor.requests.filter(({ method }) => method === "POST").length;

test.each(["silent-at-head", "silent-behind-head"])(
  "%s: 200 s of silence are waited for with timeoutSeconds 300, with one request",
  async (model) => {
    const arrived = vendor.nextRequest();
    const answered = ask(model);
    await arrived;
    await vi.advanceTimersByTimeAsync(200_000);
    expect(asked()).toBe(1);
    vendor.speak();
    expect([await answered, asked()]).toEqual([okText, 1]);
  },
);

test("more than 300 s of silence end the request and its connection, and it is not begun anew", async () => {
  const arrived = vendor.nextRequest();
  const answered = ask("silent-at-head");
  const { ended } = await arrived;
  await vi.advanceTimersByTimeAsync(300_000);
  expect(await answered).toMatch(/^timeout: .*300 s/);
  expect(await ended).toEqual({ aborted: true });
  expect(asked()).toBe(1);
});
