import { expect, test } from "vitest";
import { z } from "zod";
import { methodSpec, type PluginProtocol } from "../../sdk/index.ts";
import { protocolDocument, protocolText, readProtocolDocument } from "./protocol-document.ts";

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
])("a file with %s says so", (_, text, reason) => {
  expect(() => readProtocolDocument(text, owner)).toThrow(reason);
});
