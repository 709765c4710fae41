import { describe, expect, test } from "vitest";
import { asyncApiDocument } from "../tools/docs/asyncapi.ts";
import { collectReference } from "../tools/docs/collect.ts";
import { jsonText } from "../tools/docs/json-text.ts";

type Json = Record<string, unknown>;
interface Operation {
  action: string;
  channel: { $ref: string };
  messages: Array<{ $ref: string }>;
  reply?: { channel: { $ref: string }; messages: Array<{ $ref: string }> };
}

const input = await collectReference((path) => import(path));
const text = asyncApiDocument(input);
const document = JSON.parse(text) as {
  asyncapi: string;
  info: Json;
  channels: { control: { messages: Record<string, { $ref: string }> } };
  operations: Record<string, Operation>;
  components: { messages: Record<string, { payload: Json }>; schemas: Record<string, Json> };
};

/** Everything below a value that is an object. */
function* nodes(value: unknown): Generator<Json> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const child of Object.values(value)) yield* nodes(child);
}

function refs(value: unknown): string[] {
  return [...nodes(value)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
}

function resolve(ref: string): unknown {
  return ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Json | undefined)?.[key], document);
}

describe("the AsyncAPI document", () => {
  test("has the parts of version 3.0, under names that are allowed there", () => {
    expect(document).toMatchObject({ asyncapi: "3.0.0", info: { title: expect.any(String), version: "4" } });
    const names = [...Object.keys(document.components.messages), ...Object.keys(document.components.schemas)];
    expect(names.filter((name) => !/^[\w.-]+$/.test(name))).toEqual([]);
    const own = Object.values(document.operations).flatMap((operation) => Object.keys(operation));
    const known = new Set(["action", "channel", "summary", "messages", "reply"]);
    expect([...new Set(own)].filter((key) => !known.has(key) && !/^x-[\w.-]+$/.test(key))).toEqual([]);
  });

  test("refers to nothing that is not there, and holds nothing that nobody refers to", () => {
    const all = new Set(refs(document));
    expect(all.size).toBeGreaterThan(100);
    expect([...all].filter((ref) => !ref.startsWith("#/") || resolve(ref) === undefined)).toEqual([]);
    const held = (["messages", "schemas"] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect(held.filter((ref) => !all.has(ref))).toEqual([]);
  });

  test("lets an operation use messages of its channel only", () => {
    const offered = new Set(Object.keys(document.channels.control.messages).map((name) => `#/channels/control/messages/${name}`));
    const strange = Object.entries(document.operations).filter(([, { channel, messages, reply }]) => {
      const used = [...messages, ...(reply?.messages ?? [])].map(({ $ref }) => $ref);
      const channels = [channel, ...(reply ? [reply.channel] : [])].map(({ $ref }) => $ref);
      return used.some((ref) => !offered.has(ref)) || channels.some((ref) => ref !== "#/channels/control");
    });
    expect(strange).toEqual([]);
  });

  test("has every method as a request with an answer or an error, and every event as something sent", () => {
    const requests = Object.entries(document.operations).filter(([, { action }]) => action === "receive");
    expect(requests.map(([name]) => name)).toEqual(["connect", ...Object.keys(input.methods)]);
    for (const [name, { messages, reply }] of requests) {
      const all = [...messages, ...(reply?.messages ?? [])].map(({ $ref }) => $ref.split("/").at(-1));
      expect(all).toEqual([`${name}.request`, `${name}.answer`, "error"]);
    }
    const sent = Object.entries(document.operations).filter(([, { action }]) => action === "send");
    expect(sent.map(([name]) => name)).toEqual(Object.keys(input.events).map((name) => `${name}.event`));
  });

  test("closes the envelopes and leaves what they carry open", () => {
    const { messages } = document.components;
    expect(Object.values(messages).filter(({ payload }) => payload.additionalProperties !== false)).toEqual([]);
    const answers = Object.entries(messages).filter(([name]) => /\.(?:answer|event)$/.test(name));
    const closed = answers.filter(([, { payload }]) =>
      [...nodes((payload.properties as Json).payload)].some((node) => node.additionalProperties === false),
    );
    expect(closed.map(([name]) => name)).toEqual([]);
    expect(messages["health.request"]?.payload.properties).toMatchObject({ params: { type: "object", additionalProperties: false } });
  });

  test("is the same text each time", async () => {
    expect(asyncApiDocument(await collectReference((path) => import(path)))).toBe(text);
  });
});

test("JSON is written as the formatter leaves it", () => {
  const long = Array.from({ length: 30 }, (_, i) => `word ${i}`);
  expect(jsonText({ a: [1, "b"], c: {}, d: [], e: [{ f: null }], g: undefined })).toBe(
    '{\n  "a": [1, "b"],\n  "c": {},\n  "d": [],\n  "e": [\n    {\n      "f": null\n    }\n  ]\n}\n',
  );
  expect(jsonText({ long }).split("\n")).toHaveLength(long.length + 5);
});
