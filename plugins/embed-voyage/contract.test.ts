import { createTestRequests, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe } from "vitest";
import { createFakeVoyageEmbeddings } from "../../test/fakes/embedding-openai.ts";
import { createVoyageAdapter } from "./adapter.ts";

const requests = createTestRequests();
afterAll(() => requests.close());

const server = await createFakeVoyageEmbeddings();
afterAll(() => server.close());

describe("the adapter", () => {
  const ctx = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };
  embeddingContract(createVoyageAdapter(ctx), { context: { remote: { baseUrl: server.url, apiKey: server.apiKey } } });
});
