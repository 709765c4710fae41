import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pluginContract } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../../plugins");
const bundled = readdirSync(root, { withFileTypes: true }).filter((e) => e.isDirectory());

test("every bundled plugin is found", () => {
  expect(bundled.length).toBeGreaterThan(7);
});

describe.each(bundled.map((e) => e.name))("plugin %s", (id) => {
  pluginContract(join(root, id));
});
