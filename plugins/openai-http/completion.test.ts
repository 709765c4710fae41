import fc from "fast-check";
import type { RunOutcome } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { createChunks, pieces } from "./chunks.ts";
import { completionResponse, createEnvelope, judge, usageOf } from "./completion.ts";
import { toProblem } from "./error-body.ts";
import type { Demand } from "./tools.ts";

const usage = { input: 8, output: 7, cacheRead: 4, cacheWrite: 0, reasoning: 2, total: 19 };
const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const ok: RunOutcome = { status: "ok", text: "Hi.", toolCalls: [], usage, stopReason: "stop" };
const envelope = { id: "chatcmpl_1", created: 1, model: "svc/default" };
const call = { id: "c1", name: "weather", args: { city: "Bern" } };

describe("the verdict on a run", () => {
  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
  ])("stop reason %s → finish_reason %s", (stopReason, finishReason) => {
    expect(judge({ ...ok, stopReason }, undefined)).toMatchObject({ ok: true, finishReason });
  });

  test("calls of client tools finish with tool_calls and keep the text before them", () => {
    expect(judge({ ...ok, toolCalls: [call], stopReason: "tool_calls" }, undefined)).toMatchObject({
      text: "Hi.",
      finishReason: "tool_calls",
    });
    expect(judge({ ...ok, text: "", toolCalls: [call] }, undefined)).toMatchObject({ text: "" });
  });

  test("a run without text says so", () => {
    expect(judge({ ...ok, status: "error", code: "EMPTY_RESPONSE", text: "" }, undefined)).toMatchObject({
      ok: true,
      text: "No response from svc.",
    });
  });

  test.each<[Demand, string]>([
    [{}, "tool_choice=required was not satisfied by the agent response"],
    [{ tool: "weather" }, "tool_choice=function:weather was not satisfied by the agent response"],
  ])("an unmet demand %j is 502", (demand, message) => {
    expect(judge({ ...ok, toolCalls: demand.tool ? [{ ...call, name: "other" }] : [] }, demand)).toEqual({
      ok: false,
      problem: { status: 502, type: "api_error", code: null, message },
    });
    expect(judge({ ...ok, toolCalls: [call] }, demand)).toMatchObject({ ok: true });
  });

  test.each([
    ["AUTH", 401, "authentication_error", null, "the upstream provider rejected its credential"],
    ["QUOTA", 402, "insufficient_quota", null, "told"],
    ["RATE_LIMIT", 429, "rate_limit_error", null, "told"],
    ["OVERLOADED", 503, "api_error", null, "upstream provider overloaded"],
    ["NETWORK", 502, "api_error", null, "upstream provider error"],
    ["TIMEOUT", 504, "api_error", null, "upstream provider timeout"],
    ["CONTEXT_OVERFLOW", 413, "invalid_request_error", null, "told"],
    ["INVALID_REQUEST", 400, "invalid_request_error", null, "told"],
    ["INVALID_MODEL", 404, "invalid_request_error", "model_not_found", "told"],
    ["ABORTED", 500, "api_error", null, "internal error"],
    ["INTERNAL", 500, "api_error", null, "internal error"],
  ])("a run that failed with %s is %i", (code, status, type, errorCode, message) => {
    const verdict = judge({ ...ok, status: "error", code, error: "told", stopReason: "error" }, undefined);

    expect(verdict).toEqual({ ok: false, problem: { status, type, code: errorCode, message } });
  });

  test("a run that a stop of the gateway ended is 503 with a time to come back", () => {
    const verdict = judge({ ...ok, status: "error", code: "ABORTED", stopReason: "shutdown" }, undefined);

    expect(verdict).toMatchObject({ problem: { status: 503, code: "gateway_unavailable", headers: { "Retry-After": "1" } } });
  });
});

test("the plain answer has the shape of the protocol", async () => {
  const body = await completionResponse(envelope, judge({ ...ok, text: "", toolCalls: [call] }, undefined)).json();

  expect(body).toEqual({
    id: "chatcmpl_1",
    object: "chat.completion",
    created: 1,
    model: "svc/default",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "",
          refusal: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ],
    usage: {
      prompt_tokens: 12,
      completion_tokens: 7,
      total_tokens: 19,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
});

test("usage is zeros when the provider reported none, and the larger total counts", () => {
  expect(usageOf(noUsage)).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  expect(usageOf({ ...noUsage, input: 3, output: 2, total: 9 })).toMatchObject({ total_tokens: 9 });
  expect(usageOf({ ...noUsage, input: 3, output: 2, total: 1 })).toMatchObject({ total_tokens: 5 });
});

test("the answer echoes the model as it was sent", () => {
  expect(createEnvelope("c1", " SVC ", 1999)).toMatchObject({ model: " SVC ", created: 1 });
  expect(createEnvelope("c1", undefined, 0).model).toBe("svc");
});

describe("frames", () => {
  const parse = (frame: string) => JSON.parse(frame.replace(/^data: /, ""));

  test("are JSON with the shared head", () => {
    const chunks = createChunks({ id: 'a"b', created: 5, model: "svc\n" });
    const head = { id: 'a"b', object: "chat.completion.chunk", created: 5, model: "svc\n" };

    expect(parse(chunks.role())).toEqual({ ...head, choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] });
    expect(parse(chunks.text("a\n\u2028"))).toEqual({
      ...head,
      choices: [{ index: 0, delta: { content: "a\n\u2028" }, finish_reason: null }],
    });
    expect(parse(chunks.finish("stop"))).toEqual({ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    expect(parse(chunks.usage(usage))).toEqual({ ...head, choices: [], usage: usageOf(usage) });
    expect(chunks.text("x").endsWith("\n\n")).toBe(true);
  });

  test("of a call open with its name and carry its arguments in pieces", () => {
    const args = { text: "x".repeat(600) };
    const chunks = createChunks(envelope);
    const frames = [chunks.callStart(1, { id: "c1", name: "note" }), ...chunks.callArguments(1, JSON.stringify(args))].map(
      (f) => parse(f).choices[0].delta.tool_calls[0],
    );

    expect(frames[0]).toEqual({ index: 1, id: "c1", type: "function", function: { name: "note", arguments: "" } });
    const rest = frames.slice(1).map((f) => f.function.arguments);
    expect(rest.every((piece: string) => piece.length <= 256)).toBe(true);
    expect(JSON.parse(rest.join(""))).toEqual(args);
  });

  test("never split a surrogate pair, and lose nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 2, max: 7 }), (text, size) => {
        const cut = pieces(text, size);
        expect(cut.join("")).toBe(text);
        for (const piece of cut) {
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.length).toBeLessThanOrEqual(size);
          expect(piece).not.toMatch(/[\ud800-\udbff]$/);
        }
      }),
    );
    expect(pieces("x".repeat(257))).toEqual(["x".repeat(256), "x"]);
  });
});

test.each([
  ["unauthorized", 401, { status: 401, type: "unauthorized", code: "invalid_api_key", message: "Unauthorized" }],
  ["missing-scope", 403, { status: 403, type: "forbidden", code: "missing_scope" }],
  ["proxy-attribution-required", 403, { status: 403, type: "proxy_attribution_required", code: "proxy_attribution_required" }],
  ["rate-limited", 429, { status: 429, type: "rate_limited", code: "rate_limited" }],
  ["request-timeout", 408, { status: 408, type: "invalid_request_error", code: "request_timeout" }],
  ["payload-too-large", 413, { status: 413, type: "invalid_request_error", code: "payload_too_large" }],
  ["invalid-json", 400, { status: 400, type: "invalid_request_error", code: null, message: "told" }],
  ["v1-bad-request", 400, { status: 400, type: "invalid_request_error", code: null, message: "told" }],
  ["v1-model-not-found", 404, { status: 404, type: "invalid_request_error", code: "model_not_found" }],
  ["invalid-model", 400, { status: 404, type: "invalid_request_error", code: "model_not_found" }],
  ["client-tool-conflict", 400, { status: 400, message: "told" }],
  ["draining", 503, { status: 503, type: "api_error", code: "gateway_unavailable" }],
  ["internal", 500, { status: 500, type: "api_error", code: null, message: "internal error" }],
])("fault %s → error object", (code, status, problem) => {
  expect(toProblem({ code, status, message: "told", headers: {} })).toMatchObject(problem);
});
