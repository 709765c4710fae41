import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { embeddingContext } from "../testing/embedding-context.ts";
import { createTestRequests } from "../testing/test-requests.ts";
import { openOpenAiShaped } from "./openai-shaped.ts";

test("each of several calls that a server without base64 refuses at once is asked again", async () => {
  const asked: Array<string | undefined> = [];
  const refused: ServerResponse[] = [];
  const server = createServer((req, res) => {
    void req.toArray().then((chunks) => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[]; encoding_format?: string };
      asked.push(body.encoding_format);
      if (body.encoding_format === undefined) return res.end(JSON.stringify({ data: body.input.map(() => ({ embedding: [3, 4] })) }));
      refused.push(res);
      // Not before all of them are under way.
      if (refused.length === 3) for (const one of refused) one.writeHead(400).end('{"error":{"message":"encoding_format: floats only"}}');
      return undefined;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests = createTestRequests();
  const source = { env: {}, secret: () => undefined, signal: new AbortController().signal, request: requests.request };
  const { provider } = openOpenAiShaped(source, embeddingContext({ remote: { baseUrl } }), {
    vendor: { adapter: "acme", vendor: "acme", baseUrl: "https://api.acme.example", keyEnv: [] },
    model: "small",
    maxItemsPerRequest: 8,
    asksBase64: true,
  });
  try {
    const answers = await Promise.all(["a", "b", "c"].map((text) => provider.embedBatch([text])));
    expect(answers).toEqual(Array(3).fill([Float32Array.of(0.6, 0.8)]));
    await provider.embedQuery("d");
    expect(asked).toEqual(["base64", "base64", "base64", undefined, undefined, undefined, undefined]);
  } finally {
    await provider.close?.();
    await requests.close();
    server.close();
  }
});
