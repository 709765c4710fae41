import { expect, test } from "vitest";
import { guardInbound } from "./inbound-guard.ts";
import type { RpcMessage, Transport } from "./library.ts";

function guarded() {
  const state = { now: 0, taken: 0, floods: 0 };
  const transport = {} as Transport;
  guardInbound(
    transport,
    () => state.now,
    () => state.floods++,
  );
  transport.onmessage = () => {
    state.taken++;
  };
  const send = (count: number, message: RpcMessage) => {
    for (let i = 0; i < count; i++) transport.onmessage?.(message);
  };
  return { state, send };
}

const notice = { method: "notifications/message" };
const request = { method: "ping", id: 1 };

test("2,000 messages at once pass, and one more ends the connection", () => {
  const { state, send } = guarded();
  send(2_000, notice);
  expect(state).toMatchObject({ taken: 2_000, floods: 0 });
  send(3, notice);
  expect(state).toMatchObject({ taken: 2_000, floods: 1 });
});

test("a second brings 200 more messages, or 2 requests", () => {
  const { state, send } = guarded();
  send(1_950, notice);
  send(50, request);
  state.now = 1_000;
  send(2, request);
  send(100, notice);
  expect(state).toMatchObject({ taken: 2_102, floods: 0 });
  send(1, request);
  expect(state.floods).toBe(1);
});

test("answers to what was asked count as messages only", () => {
  const { state, send } = guarded();
  send(2_000, { id: 7, result: {} });
  expect(state).toMatchObject({ taken: 2_000, floods: 0 });
});
