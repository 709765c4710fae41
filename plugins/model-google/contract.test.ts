import { createVendorFetch } from "svc/sdk/internal";
import { createTestRequests, modelProviderContract, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll } from "vitest";
import { type FakeGoogle, startFakeGoogle } from "../../test/fakes/google-server.ts";
import { quiet, searchTool, settingsOf } from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";

let vendor: FakeGoogle;
let requests: TestRequests;

beforeAll(async () => {
  vendor = await startFakeGoogle();
  requests = createTestRequests();
});

afterAll(async () => {
  await requests.close();
  await vendor.close();
});

const model = (word: string) => ({ model: `gemini-2.5-flash~${word}` });
modelProviderContract(() => ({
  provider: createProvider(settingsOf(vendor), {
    fetch: createVendorFetch(requests.request, 30_000),
    clock: { now: Date.now, monotonic: () => performance.now() },
    logger: quiet,
  }),
  text: model("text"),
  tool: { ...model("unsigned"), tools: [searchTool] },
  slow: model("hang~2"),
  faults: {
    auth: model("http~API_KEY_INVALID"),
    rate_limit: model("http~34s"),
    overloaded: model("http~503"),
    context_overflow: model("http~long"),
  },
  secrets: [vendor.apiKey],
}));
