import { z } from "svc/sdk";
import { headers, type Operation, operations } from "./operations.ts";
import { named } from "./schema-registry.ts";

type Json = Record<string, unknown>;

const SCHEMAS = "#/components/schemas/";

/** Meaning of each status of a failure. */
const failures: Readonly<Record<number, string>> = {
  400: "The request cannot be understood, or is out of range.",
  401: "The credential is missing or wrong, or the vendor refused that of the gateway.",
  402: "The account at the vendor is spent.",
  403: "The caller, or the gateway's account at the vendor, may not do that.",
  404: "The model, the agent's tool or the previous response is not known, or the endpoint is off.",
  408: "The body took longer than 30 s.",
  413: "The body is larger than `gateway.http.maxBodyBytes`, or the conversation than the model takes.",
  429: "Too many wrong credentials from this address, or the vendor's limit; `Retry-After` says when to come back.",
  500: "Something failed inside; the log has the reason.",
  502: "The vendor failed, or a tool call that was required did not happen.",
  503: "The gateway is not ready or stops, or the vendor is overloaded.",
  504: "The vendor took too long.",
};

/** The HTTP API as an OpenAPI 3.1 document. Deterministic; `npm run docs` writes it to `svc.openapi.json`, since making it takes longer than a request may. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  const document = {
    openapi: "3.1.0",
    info: {
      title: "svc HTTP API",
      version: "1.0.0",
      description:
        "Agents of one gateway as models of the OpenAI API, their tools, and the probes. `model` names an agent; `x-svc-model` names the model behind it.",
    },
    servers: [{ url: "/", description: "The port of the gateway, 18789 unless configured otherwise." }],
    paths,
    components: {
      parameters: Object.fromEntries(
        Object.entries(headers).map(([header, description]) => [
          header,
          { name: header, in: "header", description, schema: { type: "string" } },
        ]),
      ),
      headers: {
        "x-request-id": { description: "Also in the log.", schema: { type: "string" } },
        "Retry-After": { description: "Whole seconds.", schema: { type: "integer" } },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "`gateway.auth.token`, or the password in mode `password`." },
      },
    },
  };
  const schemas = schemasUsedBy(document);
  return { ...document, components: { schemas, ...document.components } };
}

function operationObject({ id, about, endpoint, scope, inPath = {}, headers: names = [], request, ...rest }: Operation): Json {
  const parameters = [
    ...Object.entries(inPath).map(([name, description]) => ({ name, in: "path", required: true, description, schema: { type: "string" } })),
    ...names.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
  return {
    operationId: id,
    summary: about,
    ...(scope === undefined ? { security: [] } : { security: [{ bearer: [] }], "x-svc-scope": scope }),
    ...(endpoint === undefined ? {} : { "x-svc-endpoint": endpoint }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request ? { requestBody: { required: true, content: { "application/json": { schema: refTo(request) } } } } : {}),
    responses: responses(rest),
  };
}

function responses({ answer, event, failures: forms, fails }: Pick<Operation, "answer" | "event" | "failures" | "fails">): Json {
  const requestId = { "x-request-id": { $ref: "#/components/headers/x-request-id" } };
  const retryAfter = { "Retry-After": { $ref: "#/components/headers/Retry-After" } };
  const failure = forms.length === 1 ? forms.map(refTo)[0] : { anyOf: forms.map(refTo) };
  return {
    200: {
      description: "The answer.",
      headers: requestId,
      content: { "application/json": { schema: refTo(answer) }, ...(event ? { "text/event-stream": { schema: refTo(event) } } : {}) },
    },
    ...Object.fromEntries(
      fails.map((status) => [
        status,
        {
          description: failures[status],
          headers: status === 429 || status === 503 ? { ...requestId, ...retryAfter } : requestId,
          content: { "application/json": { schema: failure } },
        },
      ]),
    ),
  };
}

function refTo(schema: z.ZodType): Json {
  return { $ref: SCHEMAS + named.get(schema)?.id };
}

/** The named schemas that the document refers to, by itself or through others; answers may get further fields. */
function schemasUsedBy(document: Json): Json {
  const { schemas } = z.toJSONSchema(named, { io: "input", unrepresentable: "any", uri: (id) => SCHEMAS + id });
  const used: Json = {};
  const visit = (value: unknown): void => {
    for (const [, id = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (Object.hasOwn(used, id)) continue;
      const { $schema: _, $id: __, ...schema } = schemas[id] as Json;
      used[id] = schema;
      visit(schema);
    }
  };
  visit(document);
  return used;
}
