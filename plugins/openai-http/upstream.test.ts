import { EmbeddingError, type EmbeddingFault } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { openAiHttpErrors } from "./errors.ts";
import { toEmbeddingProblem, toUpstreamProblem } from "./upstream.ts";

const said = "embedding adapter openai: it says: no such thing at https://api.example.com/v1/embeddings?x=1, sorry";

const at = (index: number) => `input.${index}`;

describe("a failed run", () => {
  test.each(["RATE_LIMIT", "QUOTA", "CONTEXT_OVERFLOW", "INVALID_REQUEST", "MODEL_NOT_FOUND"])(
    "%s passes its text on without addresses",
    (code) => {
      expect(toUpstreamProblem({ code, error: said, stopReason: "error" }).message).toBe(
        "embedding adapter openai: it says: no such thing at *** sorry",
      );
    },
  );

  test.each([
    [401, { status: 401, type: "authentication_error", message: "the upstream provider rejected its credential" }],
    [403, { status: 403, type: "permission_error", message: "the upstream provider refused permission" }],
  ])("of a credential that its vendor answers with %i", (httpStatus, problem) => {
    expect(toUpstreamProblem({ code: "AUTH", error: said, stopReason: "error", httpStatus })).toEqual({ ...problem, code: null });
  });
});

describe("a failed embedding", () => {
  test.each<[EmbeddingFault, number | undefined, [number, string, string | null], string]>([
    [
      "no-credentials",
      undefined,
      [400, "invalid_request_error", "no_embedding_provider"],
      "no embedding provider is configured; set memorySearch.provider of the agent, or the key of a vendor",
    ],
    ["auth", 401, [401, "authentication_error", null], "the upstream provider rejected its credential"],
    ["auth", 403, [403, "permission_error", null], "the upstream provider refused permission"],
    ["quota", 429, [402, "insufficient_quota", null], "*"],
    ["rate-limit", 429, [429, "rate_limit_error", null], "*"],
    ["overloaded", 503, [503, "api_error", null], "upstream provider overloaded"],
    ["overloaded", 529, [503, "api_error", null], "upstream provider overloaded"],
    ["overloaded", undefined, [503, "api_error", null], "upstream provider overloaded"],
    ["overloaded", 500, [502, "api_error", null], "upstream provider error"],
    ["network", undefined, [502, "api_error", null], "upstream provider error"],
    ["bad-response", 200, [502, "api_error", null], "upstream provider error"],
    ["timeout", undefined, [504, "api_error", null], "upstream provider timeout"],
    ["invalid-request", 400, [400, "invalid_request_error", null], "*"],
    ["too-long", 413, [413, "invalid_request_error", null], "*"],
    ["model", 404, [404, "invalid_request_error", "model_not_found"], "*"],
    ["not-ready", undefined, [503, "api_error", "gateway_unavailable"], "the embedding model is not loaded yet; try again shortly"],
  ])("%s (%s) is %j", (fault, status, [answered, type, code], message) => {
    const problem = toEmbeddingProblem(new EmbeddingError(fault, said, status === undefined ? {} : { status }), at);

    const words = message === "*" ? "embedding adapter openai: it says: no such thing at *** sorry" : message;
    expect(problem).toMatchObject({ status: answered, type, code, message: words });
  });

  test("passes on how long the vendor wants to be left alone, in whole seconds", () => {
    const wait = (fault: EmbeddingFault) => toEmbeddingProblem(new EmbeddingError(fault, said, { retryAfterMs: 1_200 }), at)?.headers;

    expect([wait("rate-limit"), wait("overloaded"), wait("auth")]).toEqual([{ "Retry-After": "2" }, { "Retry-After": "2" }, undefined]);
  });

  test("is known from another copy of the SDK, too", () => {
    const foreign = Object.assign(new Error("busy"), { name: "EmbeddingError", fault: "timeout" });

    expect(toEmbeddingProblem(foreign, at)).toMatchObject({ status: 504 });
  });

  test("that is none of the vendor's is left to others", () => {
    expect(toEmbeddingProblem(new Error("boom"), at)).toBeUndefined();
    expect(toEmbeddingProblem(openAiHttpErrors.v1BadRequest({ message: "x" }), at)).toBeUndefined();
  });
});
