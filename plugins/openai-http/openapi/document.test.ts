import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../svc.plugin.json" with { type: "json" };
import { openApiDocument } from "./document.ts";

interface Operation {
  operationId: string;
  parameters?: Array<{ name?: string; in?: string; $ref?: string }>;
  security: object[];
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>;
}

const document = openApiDocument() as {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
};
const text = JSON.stringify(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("has the parts of version 3.1", () => {
  expect(document).toMatchObject({ openapi: "3.1.0", info: { title: expect.any(String), version: expect.any(String) } });
  const names = Object.values(document.components).flatMap((part) => Object.keys(part));
  expect(names.filter((name) => !/^[\w.-]+$/.test(name))).toEqual([]);
});

test("refers to nothing that is not there, and holds nothing that nobody refers to", () => {
  const refs = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, ref]) => ref));
  const held = Object.entries(document.components)
    .filter(([kind]) => kind !== "securitySchemes")
    .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `${kind}/${name}`));

  expect([...refs].toSorted()).toEqual(held.toSorted());
});

test("has every path of the plugin and the probes, each operation under its own name", () => {
  const paths = Object.keys(document.paths);
  const own = manifest.contributes.http;
  expect(own.filter((path) => !paths.includes(path))).toEqual([]);
  expect(paths.filter((path) => !own.some((route) => path.startsWith(route)))).toEqual(["/healthz", "/health", "/readyz", "/ready"]);
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

test.each(operations)("$method $path names its parameters, its security and what can come back", ({ path, operation }) => {
  const inPath = (operation.parameters ?? []).flatMap(({ in: place, name }) => (place === "path" ? [name] : []));
  expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  expect(operation.security).toEqual(/^\/(health|ready)z?$/.test(path) ? [] : [{ bearer: [] }]);
  const answers = Object.entries(operation.responses);
  expect(answers.map(([status]) => status)).toContain("200");
  expect(answers.filter(([, { description, content }]) => !description || !content["application/json"])).toEqual([]);
});

test("says how many messages and items a request may have", () => {
  expect(document.components.schemas).toMatchObject({
    ChatCompletionRequest: { properties: { messages: { maxItems: 10_000 } } },
    ResponseRequest: { properties: { input: { anyOf: [{}, { maxItems: 10_000 }] } } },
  });
});

test("is what npm run docs wrote, for the route and for the reference", () => {
  for (const path of ["../svc.openapi.json", "../../../sdk/docs/reference/openapi.json"])
    expect(JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8"))).toEqual(document);
});

test("is the same text each time", () => {
  expect(JSON.stringify(openApiDocument())).toBe(text);
});
