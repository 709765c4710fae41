import { expect, test } from "vitest";
import type { HostCall } from "../worker-protocol.ts";
import { createHostCalls, EmbedFault } from "./host.ts";

function open() {
  const sent: HostCall[] = [];
  return { sent, host: createHostCalls((call) => void sent.push(call)) };
}

test("an answer finds its call, in any order", async () => {
  const { sent, host } = open();
  const first = host.call("embedQuery", { text: "a" }, { timeoutMs: 10_000 });
  const second = host.call("embedQuery", { text: "b" }, { timeoutMs: 10_000 });
  expect(sent).toMatchObject([
    { host: "embedQuery", params: { text: "a" } },
    { host: "embedQuery", params: { text: "b" } },
  ]);
  const ids = sent.map(({ call }) => call);
  host.answered({ answer: ids[1] ?? 0, value: Float32Array.of(2) });
  host.answered({ answer: ids[0] ?? 0, value: Float32Array.of(1) });
  expect([await first, await second]).toEqual([Float32Array.of(1), Float32Array.of(2)]);
});

test("what an adapter says arrives with its fault and the vendor's wish to wait", async () => {
  const { sent, host } = open();
  const call = host.call("embed", { texts: ["a"] }, { timeoutMs: 10_000 });
  host.answered({
    answer: sent[0]?.call ?? 0,
    fault: { code: "embedding", fields: { fault: "rate-limit", message: "slow down", retryAfterMs: 5 } },
  });
  await expect(call).rejects.toEqual(expect.objectContaining({ fault: "rate-limit", message: "slow down", retryAfterMs: 5 }));
  await expect(call).rejects.toBeInstanceOf(EmbedFault);
});

test("any other error keeps its code", async () => {
  const { sent, host } = open();
  const call = host.call("listSessions", {}, { timeoutMs: 10_000 });
  host.answered({ answer: sent[0]?.call ?? 0, fault: { code: "service-missing", fields: { reason: "no store" } } });
  await expect(call).rejects.toMatchObject({ code: "service-missing", fields: { reason: "no store" } });
});

test("a call without an answer ends by its time-out and is told to be given up; its late answer is dropped", async () => {
  const { sent, host } = open();
  await expect(host.call("embed", { texts: [] }, { timeoutMs: 1 })).rejects.toMatchObject({ fault: "timeout" });
  const call = sent[0]?.call ?? 0;
  expect(sent[1]).toEqual({ call, abandoned: true });
  host.answered({ answer: call, value: [] });
});

test("an abort gives a call up; after it none is made", async () => {
  const { sent, host } = open();
  const stop = new AbortController();
  const call = host.call("embed", { texts: [] }, { timeoutMs: 10_000, signal: stop.signal });
  stop.abort(new Error("no longer needed"));
  await expect(call).rejects.toThrow("no longer needed");
  expect(sent).toHaveLength(2);
  await expect(host.call("embed", { texts: [] }, { timeoutMs: 10_000, signal: stop.signal })).rejects.toThrow("no longer needed");
  expect(sent).toHaveLength(2);
});

test("too many calls at a time wait for their turn; one that is given up meanwhile is never made", async () => {
  const { sent, host } = open();
  const stop = new AbortController();
  const calls = Array.from({ length: 128 }, () => host.call("embedQuery", { text: "a" }, { timeoutMs: 10_000 }));
  const dropped = host.call("embed", { texts: ["dropped"] }, { timeoutMs: 10_000, signal: stop.signal });
  const waiting = host.call("embed", { texts: ["b"] }, { timeoutMs: 10_000 });
  stop.abort(new Error("no longer needed"));
  await expect(dropped).rejects.toThrow("no longer needed");
  expect(sent).toHaveLength(128);
  host.answered({ answer: sent[0]?.call ?? 0, value: Float32Array.of(1) });
  expect(await calls[0]).toEqual(Float32Array.of(1));
  expect(sent.slice(128)).toMatchObject([{ host: "embed", params: { texts: ["b"] } }]);
  host.answered({ answer: sent[128]?.call ?? 0, value: [] });
  expect(await waiting).toEqual([]);
  for (const { call } of sent.slice(1, 128)) host.answered({ answer: call, value: Float32Array.of(2) });
  expect((await Promise.all(calls)).slice(1)).toEqual(Array(127).fill(Float32Array.of(2)));
});
