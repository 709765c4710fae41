import { commonErrors, defineErrors, type HttpReply } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { deliveryErrors } from "../deliveries/errors.ts";
import { acceptedAnswer, acceptFailure, fanOutAnswer, refusalAnswer } from "./accept-answers.ts";
import type { Answer } from "./answers.ts";

/** As the state store throws them. */
const storeErrors = defineErrors({
  "deliveries-full": { message: "{rows} deliveries", http: 503, rpc: "UNAVAILABLE" },
  "system-events-full": { message: "{count} events", http: 503, rpc: "UNAVAILABLE" },
});

const agent = (runId: string, isReplay = false) => ({ kind: "agent" as const, runId, isReplay });
const read = (answer: Answer) => {
  const { status, headers, body } = answer as HttpReply;
  return { status, headers, body: JSON.parse(body as string) };
};

describe("one action", () => {
  test("of an agent is answered with its run", () => {
    expect(read(acceptedAnswer(agent("r1"), { headers: {} }))).toEqual({
      status: 200,
      headers: { "Content-Type": "application/json; charset=utf-8" },
      body: { ok: true, runId: "r1" },
    });
  });

  test("that was known is the same answer, marked", () => {
    const answer = read(acceptedAnswer(agent("r1", true), { headers: { "x-svc-agent": "main" } }));
    expect(answer.headers).toMatchObject({ "Idempotent-Replay": "true", "x-svc-agent": "main" });
    expect(answer.body).toEqual({ ok: true, runId: "r1" });
  });

  test("that was waited for tells how it ended", () => {
    const completion = { status: "ok", replyDisposition: "visible", delivered: true } as const;
    expect(read(acceptedAnswer(agent("r1"), { completion, headers: {} })).body).toEqual({ ok: true, runId: "r1", completion });
  });

  test("of a wake tells mode and outcome", () => {
    const wake = { kind: "wake", mode: "now", eventOutcome: "coalesced" } as const;
    expect(read(acceptedAnswer(wake, { headers: {} })).body).toEqual({ ok: true, mode: "now", eventOutcome: "coalesced" });
  });
});

describe("a fan-out", () => {
  const refusal = (message: string, status: 400 | 500 | 503 = 400) => ({ status, message });

  test("that was stored whole names every run", () => {
    expect(read(fanOutAnswer([agent("a"), agent("b")], { refusals: [], of: 2, headers: {} })).body).toEqual({
      ok: true,
      runId: "a",
      runIds: ["a", "b"],
      dispatched: 2,
    });
  });

  test("is a replay only when all of it was known", () => {
    const marked = (...known: boolean[]) =>
      read(
        fanOutAnswer(
          known.map((isReplay) => agent("a", isReplay)),
          { refusals: [], of: 2, headers: {} },
        ),
      ).headers?.["Idempotent-Replay"];
    expect([marked(true, true), marked(true, false)]).toEqual(["true", undefined]);
  });

  test("with refused items is the first refusal, what was stored, and five errors at most", () => {
    const refusals = [refusal("first", 503), ...Array.from({ length: 6 }, (_, i) => refusal(`more ${i}`))];
    const answer = read(fanOutAnswer([agent("a")], { refusals, of: 8, headers: {} }));
    expect(answer.status).toBe(503);
    expect(answer.headers?.["Retry-After"]).toBe("5");
    expect(answer.body).toEqual({
      ok: false,
      error: "hook fan-out incomplete: 1/8 dispatched, 7 failed",
      runIds: ["a"],
      errors: ["first", "more 0", "more 1", "more 2", "more 3"],
    });
  });

  test("of wakes is answered like one, with their number", () => {
    const wake = { kind: "wake", mode: "next-heartbeat", eventOutcome: "queued" } as const;
    expect(read(fanOutAnswer([wake, wake], { refusals: [], of: 2, headers: {} })).body).toEqual({
      ok: true,
      mode: "next-heartbeat",
      eventOutcome: "queued",
      dispatched: 2,
    });
  });
});

test("a refusal is its status and message, and a busy transform says when to come back", () => {
  expect(read(refusalAnswer({ status: 400, message: "message required" }))).toMatchObject({
    status: 400,
    body: { ok: false, error: "message required" },
  });
  expect(read(refusalAnswer({ status: 503, message: "busy", retryAfterMs: 59_001 })).headers).toMatchObject({ "Retry-After": "60" });
});

describe("what could not be stored", () => {
  test.each([
    ["a full queue", storeErrors.deliveriesFull({ rows: 2_000 }), 503, "hook queue is full"],
    ["too many events", storeErrors.systemEventsFull({ count: 200 }), 503, "hook queue is full"],
    ["a failing disk", commonErrors.serviceUnavailable({ service: "store@2" }), 503, "storage unavailable"],
    ["a gateway that stops", sharedErrors.draining({}, { retryAfterMs: 5_000 }), 503, "gateway_unavailable"],
    ["an action that is too large", deliveryErrors.hookActionTooLarge({ bytes: 300_000, maxBytes: 262_144 }), 413, "payload too large"],
    ["a fault of our own", new Error("secret /path"), 500, "internal error"],
  ])("%s", (_name, error, status, text) => {
    const logged: string[] = [];
    const answer = read(acceptFailure(error, (message) => void logged.push(message)));
    expect(answer).toMatchObject({ status, body: { ok: false, error: text } });
    expect(answer.headers?.["Retry-After"]).toBe(status === 503 ? "5" : undefined);
    expect(logged).toHaveLength(status === 413 ? 0 : 1);
  });
});
