import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { PROTOCOL_FILE, type ProtocolDocument, readProtocolDocument, standalone } from "../../kernel/loader/protocol-document.ts";
import { packageRoot } from "../../kernel/process/paths.ts";
import type { SvcClient } from "../client/types.ts";
import { toSchema } from "../json-schema.ts";
import { protocolEventPayloads } from "../protocol/event-payloads.ts";
import { protocolResults } from "../protocol/results.ts";
import type { JsonObject } from "../types/common.ts";
import type { JsonSchema } from "../types/schema.ts";
import { helloOk } from "./hello-ok.ts";
import { runner, runnerIfAny } from "./runner.ts";

type Schemas = Readonly<Record<string, z.ZodType>>;

const MAX_FAULTS = 50;
const faults: string[] = [];

const results: Schemas = { ...protocolResults, connect: helloOk };
const payloads: Schemas = protocolEventPayloads;
/** Schemas of bundled plugins as their documents have them: a process needs few of the hundreds. */
type Written = Readonly<Record<string, { schema: JsonSchema; document: ProtocolDocument }>>;
let ofPlugins: { results: Written; payloads: Written } | undefined;
const read = new WeakMap<JsonSchema, z.ZodType>();

const wireError = z.object({
  code: z.enum(["INVALID_REQUEST", "FORBIDDEN", "NOT_PAIRED", "APPROVAL_NOT_FOUND", "UNAVAILABLE"]),
  message: z.string().min(1),
  details: z.looseObject({ code: z.string().min(1).exactOptional() }).exactOptional(),
  retryable: z.boolean().exactOptional(),
  retryAfterMs: z.number().int().min(0).exactOptional(),
});
const serverFrame = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("event"),
    event: z.string().min(1),
    payload: z.unknown().optional(),
    seq: z.number().int().min(1).exactOptional(),
    stateVersion: z.object({ presence: z.number().int(), health: z.number().int() }).exactOptional(),
  }),
  z.strictObject({
    type: z.literal("res"),
    id: z.string().min(1),
    ok: z.boolean(),
    payload: z.unknown().optional(),
    error: wireError.exactOptional(),
  }),
]);

// A test that saw something the protocol does not allow has failed, whatever else it looked at.
runnerIfAny()?.afterEach(throwWireFaults);
let isOfThisFile = true;

/** Registers the same for a test file whose process has loaded this module for an earlier one; called by the setup of every file. */
export function failOnWireFaults(): void {
  if (!isOfThisFile) runner().afterEach(throwWireFaults);
  isOfThisFile = false;
}

/** Remembers what a successful answer of a protocol method breaks; other methods are left alone. */
export function checkAnswer(method: string, payload: unknown): void {
  check(`answer of ${method}`, Object.hasOwn(results, method) ? results[method] : own(schemasOfPlugins().results, method), payload);
}

/** Remembers what the payload of a protocol event breaks; plugins' own events are left alone. */
export function checkEvent(event: string, payload: unknown): void {
  check(`event ${event}`, Object.hasOwn(payloads, event) ? payloads[event] : own(schemasOfPlugins().payloads, event), payload);
}

function own(written: Written, name: string): z.ZodType | undefined {
  const found = Object.hasOwn(written, name) ? written[name] : undefined;
  if (!found) return undefined;
  const { schema, document } = found;
  const type = read.get(schema) ?? (toSchema(standalone(schema, document)) as unknown as z.ZodType);
  read.set(schema, type);
  return type;
}

/** Schemas of the answers and events of bundled plugins, from the tables beside their manifests. */
function schemasOfPlugins(): { results: Written; payloads: Written } {
  if (ofPlugins) return ofPlugins;
  const root = join(packageRoot(), "plugins");
  const documents = readdirSync(root)
    .map((id) => ({ id, file: join(root, id, PROTOCOL_FILE) }))
    .filter(({ file }) => existsSync(file))
    .map(({ id, file }) => readProtocolDocument(readFileSync(file, "utf8"), { plugin: id, isBundled: true }));
  const tables = documents.map((document) => ({
    results: Object.entries(document.methods).map(([name, { result: schema }]) => [name, { schema, document }] as const),
    payloads: Object.entries(document.events ?? {}).map(([name, { payload: schema }]) => [name, { schema, document }] as const),
  }));
  ofPlugins = {
    results: Object.fromEntries(tables.flatMap((table) => table.results)),
    payloads: Object.fromEntries(tables.flatMap((table) => table.payloads)),
  };
  return ofPlugins;
}

/**
 * Compares everything a client receives from now on with the schemas of the protocol: what is wrong fails the test that saw it. Clients of a
 * `createTestGateway` are watched already. Returns the client.
 */
export function watchClient(client: SvcClient): SvcClient {
  const { request } = client;
  client.onState((state) => state.state === "connected" && checkAnswer("connect", state.hello));
  client.on("*", (_payload, frame) => checkEvent(frame.event, frame.payload));
  client.request = async (method: string, params?: JsonObject, options: Parameters<typeof request>[2] = {}) => {
    const { onAccepted } = options;
    const answer = await request(method as never, params as never, {
      ...options,
      ...(onAccepted && {
        onAccepted(payload: JsonObject) {
          checkAnswer(method, payload);
          onAccepted(payload);
        },
      }),
    });
    checkAnswer(method, answer);
    return answer as never;
  };
  return client;
}

/** Compares the frames of one bare socket with the schemas: envelopes, answers, events. */
export function createFrameCheck(): { sent(frame: unknown): void; received(frame: unknown): void } {
  const methods = new Map<string, string>();
  return {
    sent(frame) {
      const { id, method } = (frame ?? {}) as { id?: unknown; method?: unknown };
      if (typeof id === "string" && typeof method === "string") methods.set(id, method);
    },
    received(frame) {
      const parsed = serverFrame.safeParse(frame);
      if (!parsed.success) return note("frame", parsed.error);
      const { data } = parsed;
      if (data.type === "event") checkEvent(data.event, data.payload);
      else if (data.ok === (data.error !== undefined)) remember(`frame: ok ${data.ok} ${data.error ? "with" : "without"} an error`);
      else if (data.ok) checkAnswer(methods.get(data.id) ?? "", data.payload);
    },
  };
}

/** @throws {Error} with everything that was wrong since the last call: name, path and rule */
export function throwWireFaults(): void {
  const found = faults.splice(0);
  if (found.length > 0) throw new Error(`the gateway said what the protocol does not allow:\n${found.join("\n")}`);
}

function check(subject: string, schema: z.ZodType | undefined, payload: unknown): void {
  const error = schema?.safeParse(payload).error;
  if (error) note(subject, error);
}

function note(subject: string, error: z.ZodError): void {
  for (const issue of error.issues) for (const text of describe(issue)) remember(`${subject}: ${text}`);
}

function remember(text: string): void {
  if (faults.length < MAX_FAULTS && !faults.includes(text)) faults.push(text);
}

/** Path and rule. Of a union the alternative that came nearest, which is the one that failed deepest. */
function describe(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map((one) => one.path.length));
    const [nearest = []] = [...issue.errors].sort((a, b) => depth(b) - depth(a) || a.length - b.length);
    return nearest.flatMap((one) => describe(one, path));
  }
  return [`at ${path.map(String).join(".") || "root"}: ${issue.message.replace(/^Invalid input: /, "")}`];
}
