import type { SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { silenceLimits } from "./silence.ts";

test.each([
  ["nothing said: two minutes", {}, undefined, { firstMs: 120_000, idleMs: 120_000 }],
  ["the provider knows its server, without an entry", {}, 600_000, { firstMs: 600_000, idleMs: 600_000 }],
  ["the config wins", { lab: { baseUrl: "http://127.0.0.1:1", timeoutSeconds: 5 } }, 600_000, { firstMs: 5_000, idleMs: 5_000 }],
  ["a silence of its own", { lab: { baseUrl: "http://127.0.0.1:1", silenceSeconds: 7 } }, 600_000, { firstMs: 600_000, idleMs: 7_000 }],
])("the wait for a model: %s", (_name, providers, firstAnswerMs, expected) => {
  const config = parseSharedConfig({ models: { providers } } as never) as SvcConfig;
  expect(silenceLimits(config, { id: "lab", ...(firstAnswerMs === undefined ? {} : { firstAnswerMs }) })).toEqual(expected);
});
