import type { VendorMeta } from "svc/sdk";
import { createVendorFetch } from "svc/sdk/internal";
import { createTestRequests, modelProviderContract, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll } from "vitest";
import { type FakeAnthropic, startFakeAnthropic } from "../../test/fakes/anthropic-server.ts";
import { quiet, searchTool, settingsOf } from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";

let vendor: FakeAnthropic;
let requests: TestRequests;

beforeAll(async () => {
  vendor = await startFakeAnthropic();
  requests = createTestRequests();
});

afterAll(async () => {
  await requests.close();
  await vendor.close();
});

type Block = { type: string; signature?: string; data?: string };

/** The vendor's data of reasoning in the last request, as the provider names it. */
function replayedMeta(): VendorMeta[] {
  const last = vendor.requests.at(-1)?.body as { messages: Array<{ content: Block[] }> } | undefined;
  return (last?.messages ?? []).flatMap(({ content }) =>
    content.flatMap(({ type, signature, data }): VendorMeta[] => {
      if (type === "thinking") return [{ anthropic: { signature: signature ?? "" } }];
      return type === "redacted_thinking" ? [{ anthropic: { redactedData: data ?? "" } }] : [];
    }),
  );
}

const model = (word: string) => ({ model: `claude-opus-4-6:${word}` });
modelProviderContract(() => ({
  provider: createProvider(settingsOf(vendor), {
    fetch: createVendorFetch(requests.request, 30_000),
    clock: { now: Date.now, monotonic: () => performance.now() },
    logger: quiet,
  }),
  text: model("text"),
  tool: { ...model("redacted"), tools: [searchTool], thinking: "low" },
  replayedMeta,
  slow: model("hang:6"),
  faults: { auth: model("http:401"), rate_limit: model("http:429"), overloaded: model("http:529"), context_overflow: model("http:long") },
  secrets: [vendor.apiKey],
}));
