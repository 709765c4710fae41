import { PROTOCOL_VERSION } from "../../../sdk/protocol/frames.ts";
import { jsonText } from "./json-text.ts";
import type { ReferenceInput } from "./pages.ts";
import type { SchemaNode } from "./schema-rows.ts";

type Json = Record<string, unknown>;

const channel = { $ref: "#/channels/control" };
const onChannel = (message: string) => ({ $ref: `#/channels/control/messages/${message}` });

/** The control protocol as an AsyncAPI 3.0 document: the gateway receives requests and sends answers and events. Deterministic. */
export function asyncApiDocument(input: ReferenceInput): string {
  const messages = { ...methodMessages(input), ...eventMessages(input), error: errorMessage() };
  const document = {
    asyncapi: "3.0.0",
    info: {
      title: "svc control protocol",
      version: String(PROTOCOL_VERSION),
      description:
        "One socket, JSON text frames. The gateway sends `connect.challenge`, the client answers with the request `connect`, the gateway with `HelloOk`; then requests and events go side by side. An answer has the `id` of its request.",
    },
    defaultContentType: "application/json",
    servers: {
      gateway: { host: "127.0.0.1:18789", protocol: "ws", description: "Any address the gateway listens on; `wss` behind TLS." },
    },
    channels: {
      control: {
        address: "/",
        description: "Any path that no plugin owns.",
        servers: [{ $ref: "#/servers/gateway" }],
        messages: Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: "GET", bindingVersion: "0.1.0" } },
      },
    },
    operations: { ...methodOperations(input), ...eventOperations(input) },
    components: { messages, schemas: { ...input.shapes, WireError: wireError } },
  };
  return jsonText(document).replaceAll('"#/$defs/', '"#/components/schemas/');
}

function methodOperations({ methods, connect, methodOwners }: ReferenceInput): Json {
  const operation = (name: string, about: string, extra: Json) => ({
    action: "receive",
    channel,
    summary: about,
    messages: [onChannel(`${name}.request`)],
    reply: { channel, messages: [onChannel(`${name}.answer`), onChannel("error")] },
    ...extra,
  });
  return {
    connect: operation("connect", connect.about, {}),
    ...Object.fromEntries(
      Object.entries(methods).map(([name, { scope, about }]) => [
        name,
        operation(name, about, { "x-svc-scope": `operator.${scope}`, "x-svc-answered-by": methodOwners[name] ?? "kernel" }),
      ]),
    ),
  };
}

function eventOperations({ events }: ReferenceInput): Json {
  return Object.fromEntries(
    Object.entries(events).map(([name, { scope, droppable, about }]) => [
      `${name}.event`,
      {
        action: "send",
        channel,
        summary: about,
        messages: [onChannel(`${name}.event`)],
        "x-svc-scope": scope === "none" ? "none" : `operator.${scope}`,
        "x-svc-droppable": droppable,
      },
    ]),
  );
}

function methodMessages({ methods, connect }: ReferenceInput): Json {
  const id = { type: "string", minLength: 1 };
  return Object.fromEntries(
    Object.entries({ connect, ...methods }).flatMap(([name, { params, result }]) => [
      [
        `${name}.request`,
        message(
          name,
          {
            type: { const: "req" },
            id,
            method: { const: name },
            params,
            traceparent: { type: "string", maxLength: 128, description: "W3C trace context" },
          },
          ["type", "id", "method", ...((params.required ?? []).length > 0 ? ["params"] : [])],
        ),
      ],
      [
        `${name}.answer`,
        message(name, { type: { const: "res" }, id, ok: { const: true }, payload: result }, ["type", "id", "ok", "payload"]),
      ],
    ]),
  );
}

function eventMessages({ events }: ReferenceInput): Json {
  return Object.fromEntries(
    Object.entries(events).map(([name, { payload }]) => [
      `${name}.event`,
      message(
        name,
        {
          type: { const: "event" },
          event: { const: name },
          payload,
          seq: { type: "integer", minimum: 1, description: "counts what this connection was sent or would have been" },
          stateVersion: { $ref: "#/$defs/StateVersion" },
        },
        ["type", "event", "payload"],
      ),
    ]),
  );
}

function errorMessage(): Json {
  const properties = {
    type: { const: "res" },
    id: { type: "string", minLength: 1 },
    ok: { const: false },
    error: { $ref: "#/components/schemas/WireError" },
    payload: { description: "of a run that failed" },
  };
  return message("error", properties, ["type", "id", "ok", "error"]);
}

function message(name: string, properties: Record<string, unknown>, required: readonly string[]): Json {
  const isAnswer = Object.hasOwn(properties, "id");
  return {
    name,
    ...(isAnswer ? { correlationId: { location: "$message.payload#/id" } } : {}),
    payload: { type: "object", properties, required, additionalProperties: false },
  };
}

const wireError: SchemaNode & Json = {
  type: "object",
  properties: {
    code: { enum: ["INVALID_REQUEST", "FORBIDDEN", "NOT_PAIRED", "APPROVAL_NOT_FOUND", "UNAVAILABLE"] },
    message: { type: "string", minLength: 1 },
    details: {
      type: "object",
      properties: { code: { type: "string", description: "the finer code, upper case" } },
    },
    retryable: { type: "boolean" },
    retryAfterMs: { type: "integer", minimum: 0 },
  },
  required: ["code", "message"],
};
