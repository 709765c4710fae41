import { createTestRequests, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe } from "vitest";
import { createFakeMistralEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { createMistralAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const server = await createFakeMistralEmbeddings();
afterAll(() => server.close());

describe("the adapter", () => {
  const ctx = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };
  embeddingContract(createMistralAdapter(ctx), { context: { remote: { baseUrl: server.url, apiKey: server.apiKey } } });
});
