import type { SvcConfig, z } from "svc/sdk";
import { chatAnswer, chatEvent, chatRequest } from "./chat-schemas.ts";
import * as other from "./other-schemas.ts";
import { responseEvent, responseObject, responsesRequest } from "./responses-schemas.ts";
import { error } from "./schema-registry.ts";

type Endpoint = keyof SvcConfig["gateway"]["http"]["endpoints"];
type HeaderName = keyof typeof headers;

/** Request headers with an effect. */
export const headers = {
  "x-svc-agent-id": "The agent; wins over `model`.",
  "x-svc-session-key": "The session; wins over `user`.",
  "x-svc-message-channel": "The channel that the message is taken to come from; default `webchat`, unknown ones are passed over.",
  "x-svc-message-to": "The group or recipient on that channel, whose tools hold.",
  "x-svc-account-id": "The account of that channel.",
  "x-svc-thread-id": "The thread on that channel; hooks see it.",
  "x-svc-model": "The backend model of this request: `provider/model`, a bare id or an alias. Needs the scope `operator.admin`.",
  "Idempotency-Key":
    "At most 256 characters. A repeat with the same body, caller and other headers gets the same answer, with `Idempotent-Replay: true`; nothing runs twice.",
} as const;

/** One operation, before it is written as OpenAPI has it. */
export interface Operation {
  method: "get" | "post";
  path: string;
  id: string;
  about: string;
  /** Its switch in `gateway.http.endpoints`; an operation without one is always there. */
  endpoint?: Endpoint;
  /** Scope that the caller needs; one without needs no credential. */
  scope?: "operator.read" | "operator.write";
  /** Parameters of the path. */
  inPath?: Readonly<Record<string, string>>;
  headers?: readonly HeaderName[];
  request?: z.ZodType;
  answer: z.ZodType;
  /** `data` of the events of a streamed answer. */
  event?: z.ZodType;
  /** Forms of a failure. */
  failures: readonly z.ZodType[];
  /** Status codes of failures. */
  fails: readonly number[];
}

const refused = [401, 403, 404, 429, 503];
const refusedPost = [400, ...refused, 408, 413, 500];
const vendorFails = [402, 502, 504];
const routing: readonly HeaderName[] = ["x-svc-agent-id", "x-svc-model"];
const place: readonly HeaderName[] = ["x-svc-message-channel", "x-svc-message-to", "x-svc-account-id", "x-svc-thread-id"];

export const operations: readonly Operation[] = [
  {
    method: "get",
    path: "/v1/models",
    id: "listModels",
    about: "Agents as models: `svc`, `svc/default` and `svc/<agentId>`.",
    endpoint: "models",
    scope: "operator.read",
    answer: other.modelList,
    failures: [error],
    fails: refused,
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    id: "getModel",
    about: "One of them.",
    endpoint: "models",
    scope: "operator.read",
    inPath: { id: "As the list has it; a slash may be written as such or as `%2F`." },
    answer: other.model,
    failures: [error],
    fails: [400, ...refused],
  },
  {
    method: "post",
    path: "/v1/chat/completions",
    id: "createChatCompletion",
    about: "One run of an agent, in the form of chat completions.",
    endpoint: "chatCompletions",
    scope: "operator.write",
    headers: [...routing, "x-svc-session-key", ...place, "Idempotency-Key"],
    request: chatRequest,
    answer: chatAnswer,
    event: chatEvent,
    failures: [error],
    fails: [...refusedPost, ...vendorFails],
  },
  {
    method: "post",
    path: "/v1/responses",
    id: "createResponse",
    about: "One run of an agent, in the form of Open Responses.",
    endpoint: "responses",
    scope: "operator.write",
    headers: [...routing, "x-svc-session-key", ...place, "Idempotency-Key"],
    request: responsesRequest,
    answer: responseObject,
    event: responseEvent,
    // A run that began and failed answers with the response object.
    failures: [error, responseObject],
    fails: [...refusedPost, ...vendorFails],
  },
  {
    method: "post",
    path: "/v1/embeddings",
    id: "createEmbeddings",
    about: "Vectors of texts, by the memory of an agent.",
    endpoint: "embeddings",
    scope: "operator.write",
    headers: routing,
    request: other.embeddingsRequest,
    answer: other.embeddingsAnswer,
    failures: [error],
    fails: [...refusedPost, ...vendorFails],
  },
  {
    method: "post",
    path: "/tools/invoke",
    id: "invokeTool",
    about: "One call of one tool of an agent, under its policy.",
    endpoint: "toolsInvoke",
    scope: "operator.write",
    headers: place,
    request: other.toolRequest,
    answer: other.toolAnswer,
    failures: [error, other.toolFailure],
    fails: refusedPost,
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    about: "This document, with the endpoints that are on.",
    scope: "operator.read",
    answer: other.openApi,
    failures: [error],
    fails: [401, 403, 429, 503],
  },
  ...["/healthz", "/health"].map((path) => ({
    method: "get" as const,
    path,
    id: `get${path.slice(1, 2).toUpperCase()}${path.slice(2)}`,
    about: "The process is alive.",
    answer: other.live,
    failures: [],
    fails: [],
  })),
  ...["/readyz", "/ready"].map((path) => ({
    method: "get" as const,
    path,
    id: `get${path.slice(1, 2).toUpperCase()}${path.slice(2)}`,
    about: "Requests are answered; 503 while they are not.",
    answer: other.readiness,
    failures: [other.readiness],
    fails: [503],
  })),
];
