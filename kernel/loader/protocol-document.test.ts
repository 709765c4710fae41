import { expect, test } from "vitest";
import { z } from "zod";
import { defineErrors, methodSpec, type PluginProtocol, toSchema } from "../../sdk/index.ts";
import { eventRowsOf, protocolDocument, protocolText, readProtocolDocument, standalone } from "./protocol-document.ts";

const notes: PluginProtocol = {
  methods: { "notes.list": methodSpec("read", "the notes", z.strictObject({ limit: z.number().int().min(1).max(9).optional() })) },
  results: { "notes.list": z.object({ notes: z.array(z.string()) }) },
};
const owner = { plugin: "notes", isBundled: false };

test("a table that was written reads back as it was", () => {
  const document = protocolDocument(notes);
  expect(readProtocolDocument(protocolText(document), owner)).toEqual(document);
  expect(document.methods["notes.list"]).toMatchObject({
    scope: "read",
    about: "the notes",
    params: { type: "object", properties: { limit: { type: "integer", minimum: 1, maximum: 9 } }, additionalProperties: false },
    result: { required: ["notes"] },
  });
});

test("a shape with a name is written once, and what refers to it stands alone with it", () => {
  const note = z.object({ text: z.string() }).meta({ id: "Note" });
  const changed = { scope: "read", droppable: true, about: "a note changed", payload: note } as const;
  const document = protocolDocument({ ...notes, results: { "notes.list": z.array(note) }, events: { "notes.changed": changed } });

  const named = { $ref: "#/$defs/Note" };
  expect(document.methods["notes.list"]?.result).toMatchObject({ type: "array", items: named });
  expect(document.events).toEqual({ "notes.changed": { ...changed, payload: named } });
  expect(document.$defs).toEqual({ Note: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } });
  expect(readProtocolDocument(protocolText(document), { plugin: "notes", isBundled: true })).toEqual(document);

  const payload = toSchema(standalone(named, document))["~standard"];
  expect(payload.validate({ text: "a" })).not.toHaveProperty("issues");
  expect(payload.validate({ text: 1 })).toHaveProperty("issues");
});

const notesErrors = defineErrors({
  "notes-full": {
    message: "{limit} notes are kept",
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "NOTES_FULL",
    expose: { limit: { type: "integer" } },
    retryable: true,
  },
  "notes-gone": { message: "no such note", http: 404, rpc: "INVALID_REQUEST", expose: ["noteId"] },
});

test("errors are written with their answers and the fields of their details", () => {
  const document = protocolDocument({ ...notes, errors: [notesErrors] });

  expect(document.errors).toEqual({
    "notes-full": {
      message: "{limit} notes are kept",
      http: 409,
      rpc: "INVALID_REQUEST",
      retryable: true,
      details: { type: "object", properties: { code: { const: "NOTES_FULL" }, limit: { type: "integer" } } },
    },
    "notes-gone": {
      message: "no such note",
      http: 404,
      rpc: "INVALID_REQUEST",
      details: { type: "object", properties: { noteId: {} } },
    },
  });
  expect(readProtocolDocument(protocolText(document), owner)).toEqual(document);
});

test("a plugin may have errors and no methods", () => {
  const document = protocolDocument({ errors: [notesErrors] });
  expect(document.methods).toEqual({});
  expect(readProtocolDocument(protocolText(document), owner)).toEqual(document);
});

test("errors that are no table, or share a code, are refused", () => {
  expect(() => protocolDocument({ errors: [{ "notes-full": {} }] })).toThrow("errors: expected tables made by defineErrors");
  expect(() => protocolDocument({ errors: [notesErrors, notesErrors] })).toThrow("two errors have the code notes-full");
});

test("two shapes with one name are refused", () => {
  const shape = (schema: z.ZodType) => z.object({ it: schema.meta({ id: "Twice" }) });
  const results = { "notes.list": shape(z.string()) };
  const events = { "notes.changed": { scope: "read", droppable: true, about: "", payload: shape(z.number()) } } as const;
  expect(() => protocolDocument({ ...notes, results, events })).toThrow("two shapes are called Twice");
});

test("events of the protocol are those that bundled plugins list, whether they run or not", () => {
  const row = { scope: "read", droppable: false, about: "a", payload: {} } as const;
  const candidate = (id: string, origin: string, events: object) => ({ id, origin, events, problem: { state: "disabled" } }) as never;
  const rows = eventRowsOf([
    candidate("agents", "bundled", { agent: row }),
    candidate("theirs", "config", { chat: row }),
    candidate("none", "bundled", {}),
  ]);
  expect([...rows]).toEqual([["agent", row]]);
});

test("a method without the schema of its answer is not written", () => {
  expect(() => protocolDocument({ ...notes, results: {} })).toThrow("no result for the method notes.list");
});

test.each([
  ["no JSON", "{", /^svc\.protocol\.json: /],
  ["no table", "{}", /methods/],
  [
    "a scope that there is none of",
    JSON.stringify({ methods: { "notes.a": { scope: "god", about: "", params: {}, result: {} } } }),
    /scope/,
  ],
  [
    "a method of somebody else",
    JSON.stringify({ methods: { "agents.list": { scope: "read", about: "", params: {}, result: {} } } }),
    "svc.protocol.json: the method agents.list is not the plugin's own; expected notes.<verb>",
  ],
  [
    "an event of the protocol in a plugin from elsewhere",
    JSON.stringify({ methods: {}, events: { agent: { scope: "read", droppable: true, about: "", payload: {} } } }),
    "svc.protocol.json: the event agent is not the plugin's own; it sends plugin.notes.<name>, which needs no row",
  ],
  [
    "an error of somebody else",
    JSON.stringify({ methods: {}, errors: { "run-failed": { message: "", http: 500, rpc: "UNAVAILABLE" } } }),
    "svc.protocol.json: the error run-failed is not the plugin's own; expected notes-<what went wrong>",
  ],
])("a file with %s says so", (_, text, reason) => {
  expect(() => readProtocolDocument(text, owner)).toThrow(reason);
});
