import { expect, test } from "vitest";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { type ConfigServiceDeps, createConfigMethods } from "./config-service.ts";

test("the schema is made once for the same plugins, and again when one of them changes", async () => {
  const manifest = (id: string): Manifest => ({ id, version: "1.0.0", svc: { api: "^1.0.0" } });
  const [one, two] = [manifest("one"), manifest("two")];
  let manifests = [one];
  const deps = { manifests: () => [...manifests], version: "1.0.0", now: () => 0 };
  const { schema } = createConfigMethods(deps as unknown as ConfigServiceDeps);
  const first = await schema();
  expect((await schema()).schema).toBe(first.schema);
  manifests = [one, two];
  const both = await schema();
  expect(JSON.stringify(both.schema)).toContain("plugin two");
  manifests = [one, manifest("two")];
  expect((await schema()).schema).not.toBe(both.schema);
});
