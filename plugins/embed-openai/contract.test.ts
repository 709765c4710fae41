import { createTestRequests, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe } from "vitest";
import { createFakeOpenAiEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { createOpenAiAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const server = await createFakeOpenAiEmbeddings();
afterAll(() => server.close());

describe("the adapter", () => {
  const ctx = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };
  embeddingContract(createOpenAiAdapter(ctx), { context: { remote: { baseUrl: server.url, apiKey: server.apiKey } } });
});
