import { EmbeddingError } from "svc/sdk";
import { expect, test } from "vitest";
import { createHostCallServer, type HostHandlers } from "./host-calls.ts";
import { noHostHandlers } from "./no-host-handlers.ts";
import type { HostAnswer } from "./worker-protocol.ts";

function serve(handlers: Partial<HostHandlers>) {
  const answers: HostAnswer[] = [];
  const server = createHostCallServer({ ...noHostHandlers, ...handlers }, (answer) => void answers.push(answer));
  return { answers, server };
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a call is answered under its number, a fault of an adapter as what it is", async () => {
  const { answers, server } = serve({
    embedQuery: async ({ text }) => Float32Array.of(text.length),
    embed: async () => {
      throw new EmbeddingError("rate-limit", "acme: 429", { status: 429, retryAfterMs: 2_000 });
    },
  });
  server.receive({ call: 7, host: "embedQuery", params: { text: "abc" } });
  server.receive({ call: 8, host: "embed", params: { texts: [] } });
  await turn();
  expect(answers).toEqual([
    { answer: 7, value: Float32Array.of(3) },
    { answer: 8, fault: { code: "embedding", fields: { fault: "rate-limit", message: "acme: 429", status: 429, retryAfterMs: 2_000 } } },
  ]);
});

test("a call that is given up ends and is not answered; so are all when the thread is gone", async () => {
  const ended: string[] = [];
  const { answers, server } = serve({
    embedQuery: ({ text }, signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          ended.push(text);
          reject(signal.reason);
        }),
      ),
  });
  for (const [call, text] of ["a", "b", "c"].entries()) server.receive({ call, host: "embedQuery", params: { text } });
  server.receive({ call: 1, abandoned: true });
  server.receive({ call: 99, abandoned: true });
  await turn();
  expect([ended, answers]).toEqual([["b"], []]);
  server.dispose();
  await turn();
  expect([ended, answers]).toEqual([["b", "a", "c"], []]);
});

test("a thread that asks for too much at a time is refused", async () => {
  const { answers, server } = serve({ embedQuery: () => new Promise(() => undefined) });
  for (let call = 0; call < 257; call++) server.receive({ call, host: "embedQuery", params: { text: "x" } });
  await turn();
  expect(answers).toMatchObject([{ answer: 256, fault: { code: "busy" } }]);
});

test("the memory of vectors that are made for one answer is moved, each piece once; that of other vectors is copied", async () => {
  const told: Array<[number, ArrayBuffer[] | undefined]> = [];
  const slab = Float32Array.of(1, 2, 3, 4);
  const handlers: HostHandlers = {
    ...noHostHandlers,
    batchResults: async () => [slab.subarray(0, 2), "blocked", slab.subarray(2, 4)],
    embed: async () => [slab.subarray(0, 2), slab.subarray(2, 4)],
    embedQuery: async () => slab,
  };
  const server = createHostCallServer(handlers, (answer, moved) => void told.push([answer.answer, moved]));
  server.receive({ call: 1, host: "batchResults", params: { job: "j", count: 3 } });
  server.receive({ call: 2, host: "embed", params: { texts: ["a", "b"] } });
  server.receive({ call: 3, host: "embedQuery", params: { text: "a" } });
  await turn();
  expect(told).toEqual([
    [1, [slab.buffer]],
    [2, [slab.buffer]],
    [3, []],
  ]);
});

test("memory that cannot be moved is copied", async () => {
  const told: unknown[] = [];
  const memory = new WebAssembly.Memory({ initial: 1 });
  const vector = new Float32Array(memory.buffer).subarray(0, 2);
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = ({ data }) => told.push(data);
  const server = createHostCallServer({ ...noHostHandlers, embed: async () => [vector] }, (answer, moved = []) =>
    port1.postMessage(answer, moved),
  );
  server.receive({ call: 1, host: "embed", params: { texts: ["a"] } });
  await expect.poll(() => told).toEqual([{ answer: 1, value: [Float32Array.of(0, 0)] }]);
  port1.close();
});
