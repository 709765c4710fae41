import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, type PluginContext } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const VENDOR_KEY = "key-of-somebody-else";

let dir: string;
let gateway: TestGateway | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-unavailable-"));
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true, force: true });
});

const openaiOf = ({ logs }: TestGateway) =>
  logs.filter(({ message }) => message.startsWith("models.providers.openai: ")).map(({ message }) => message);

/** A plugin that tells which model providers there are, and what it is told about a secret. */
function witness() {
  let ctx: PluginContext | undefined;
  const plugin = definePlugin({
    id: "witness",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    setup(own) {
      ctx = own as PluginContext;
    },
  });
  return { plugin, providers: () => [...(ctx?.contributions("modelProvider") ?? [])].map(({ id }) => id) };
}

test("a provider whose configured key cannot be had is skipped, and gets no key of the environment, until its own one is there", async () => {
  vi.stubEnv("OPENAI_API_KEY", VENDOR_KEY);
  const seen = witness();
  const file = join(dir, "keys.json");
  gateway = await createTestGateway({
    plugins: ["model-openai", seen.plugin],
    config: {
      secrets: { providers: { team: { source: "file", path: file } } },
      models: { providers: { openai: { apiKey: { source: "file", provider: "team", id: "/openai" } } } },
    },
  });

  expect(seen.providers()).not.toContain("openai");
  expect(openaiOf(gateway)).toEqual([expect.stringContaining("models.providers.openai.apiKey: set in the config, but has no value")]);

  await writeFile(file, JSON.stringify({ openai: "key-of-the-team" }), { mode: 0o600 });
  await gateway.gateway.reload("secrets");
  expect(seen.providers()).toContain("openai");
  expect(JSON.stringify(gateway.logs)).not.toMatch(/key-of-the-team|key-of-somebody-else/);
});

test("a header that has lost its value stops the provider as well", async () => {
  vi.stubEnv("OPENAI_API_KEY", VENDOR_KEY);
  const seen = witness();
  gateway = await createTestGateway({
    plugins: ["model-openai", seen.plugin],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a config file
    config: { models: { providers: { openai: { headers: { Authorization: "Bearer ${SVC_NOT_THERE}" } } } } },
  });

  expect(seen.providers()).not.toContain("openai");
  expect(openaiOf(gateway)).toEqual([expect.stringContaining("variable SVC_NOT_THERE is not set")]);
});
