import { describe, expect, test } from "vitest";
import { protocolEventPayloads } from "../../sdk/protocol/event-payloads.ts";
import { protocolEvents } from "../../sdk/protocol/events.ts";
import { errorSpecsIn, errorTables } from "../tools/docs/collect.ts";
import { allMethods, allResults } from "../tools/protocol-tables.ts";
import { closureOf, graphOf, targetOf } from "../tools/source/boundaries.ts";
import { isProductCode, readRepositoryFiles } from "../tools/source/tree.ts";

const graph = graphOf(readRepositoryFiles((path) => isProductCode(path) && path.endsWith(".ts") && !path.endsWith(".test.ts")));
const isAnswerSchema = (path: string) =>
  /^sdk\/protocol\/(?:results|event-payloads)(?:\.ts|\/)|^plugins\/[^/]+\/protocol(?:-|\/)(?:results|events)(?:\.ts|\/)/.test(path);
/** The module that a manifest names: read when documents are written, never by a gateway. */
const isProtocolModule = (path: string) => /^plugins\/[^/]+\/protocol\.ts$/.test(path);
const without = (names: readonly string[], table: object) => names.filter((name) => !Object.hasOwn(table, name));

test("the answer of every method has a schema", () => {
  expect(without(Object.keys(allMethods), allResults)).toEqual([]);
});

test("the payload of every event has a schema", () => {
  expect(without(Object.keys(protocolEvents), protocolEventPayloads)).toEqual([]);
});

test("every field of error.details has a schema", async () => {
  const tables = await Promise.all(errorTables().map((path) => errorSpecsIn(path, (file) => import(file))));
  const exposing = tables.flatMap((specs) => Object.entries(specs)).filter(([, { expose }]) => expose !== undefined);
  expect(exposing.length).toBeGreaterThan(25);
  expect(exposing.filter(([, { expose }]) => Array.isArray(expose)).map(([code]) => code)).toEqual([]);
  expect(exposing.filter(([, { expose = {} }]) => Object.values(expose).some((schema) => schema.type === undefined))).toEqual([]);
});

test("no module of a running plugin loads its protocol module", () => {
  const loading = [...graph].flatMap(([path, imports]) =>
    imports.filter((one) => !one.typeOnly && isProtocolModule(targetOf(path, one.specifier))).map(() => path),
  );
  expect(loading).toEqual([]);
});

test("no schema is left of a method or an event that is gone", () => {
  expect(without(Object.keys(allResults), allMethods)).toEqual([]);
  expect(without(Object.keys(protocolEventPayloads), protocolEvents)).toEqual([]);
});

describe("schemas of answers are types alone", () => {
  test("for whoever is not a test kit", () => {
    const loading = [...graph].flatMap(([path, imports]) => {
      if (isAnswerSchema(path) || isProtocolModule(path) || path.startsWith("sdk/testing/")) return [];
      return imports
        .filter((one) => !one.typeOnly && isAnswerSchema(targetOf(path, one.specifier)))
        .map((one) => `${path}: ${one.specifier}`);
    });
    expect(loading).toEqual([]);
  });

  test.each([
    "kernel/bin.ts",
    "kernel/boot/gateway.ts",
    "sdk/index.ts",
    "sdk/client/index.ts",
    "sdk/client/browser.ts",
    "plugins/agents/index.ts",
    "plugins/approvals/index.ts",
  ])("in everything that %s loads", (entry) => {
    const loaded = [...closureOf(graph, entry)];
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.filter(isAnswerSchema)).toEqual([]);
  });
});
