import { createTestRequests, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe } from "vitest";
import { createFakeOllama } from "../../test/fakes/embedding-ollama.ts";
import { createOllamaAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const server = await createFakeOllama();
afterAll(() => server.close());

describe("the adapter", () => {
  const ctx = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };
  embeddingContract(createOllamaAdapter(ctx), { context: { remote: { baseUrl: server.url, apiKey: server.apiKey } } });
});
