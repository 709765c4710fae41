import fc from "fast-check";
import { expect, test } from "vitest";
import { hookStage, transformOf } from "../../../test/fixtures/hook-resolver.ts";

const names = [
  "message",
  "text",
  "name",
  "agentId",
  "sessionKey",
  "mode",
  "wakeMode",
  "deliver",
  "channel",
  "to",
  "model",
  "thinking",
  "timeoutSeconds",
];
const odd = ["sessionMode", "idempotencyKey", "source", "items", "__proto__", "constructor", "toString", "kind", "length"];
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "now",
    "next-heartbeat",
    "last",
    "ops",
    "agent:ops:x",
    "hook:1",
    "cron:x",
    "persistent",
    "vendor/good",
    "{{x}}",
    "<<<EXTERNAL_UNTRUSTED_CONTENT>>>",
    "\ud800",
  ),
);
const { payload } = fc.letrec((tie) => ({
  payload: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(texts, fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie("payload"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names, ...odd), tie("payload"), { maxKeys: 8 }),
  ),
}));

const stage = hookStage({
  hooks: {
    allowRequestSessionKey: true,
    mappings: [
      {
        match: { path: "run" },
        messageTemplate: "{{message}}",
        name: "{{name}}",
        sessionKey: "hook:{{sessionKey}}",
        to: "{{to}}",
        model: "{{model}}",
        thinking: "{{thinking}}",
      },
      { match: { path: "wakes" }, action: "wake", textTemplate: "a {{text}} b {{payload}}", forEach: "items" },
      { match: { path: "code" }, transform: { module: "echo.ts" } },
    ],
  },
  transforms: { "echo.ts": transformOf(({ payload }) => (typeof payload === "object" && payload !== null ? payload : undefined)) },
});
const statuses = [400, 413, 500, 503];

test("whatever a payload holds, each path has an answer, and what is accepted is whole", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("agent", "wake", "run", "wakes", "code", "nobody"), payload, async (path, given) => {
      // As JSON brings it: `__proto__` is a key like any other there.
      const resolved = await stage.post({ path, payload: JSON.parse(JSON.stringify(given) ?? "null") });
      if (resolved.kind !== "actions") return;
      for (const item of resolved.items) {
        if ("refusal" in item) expect(statuses).toContain(item.refusal.status);
        else {
          const { action } = item;
          expect(["main", "ops"]).toContain(action.agentId);
          if (action.sessionKey !== undefined) expect(action.sessionKey.startsWith(`agent:${action.agentId}:`)).toBe(true);
          expect(action.sessionKey ?? "").not.toMatch(/^agent:[^:]+:(?:subagent|cron|acp|agent):/i);
          expect(action.kind === "agent" ? action.message : action.text).toMatch(
            /<<<END_EXTERNAL_UNTRUSTED_CONTENT id="[0-9a-f]{16}">>>|^a\s+b$/,
          );
          expect(action.fingerprint).toMatch(/^[0-9a-f]{64}$/);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("nobody's prototype is touched by any of it", async () => {
  const hostile = JSON.parse(
    '{"message":"m","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"items":[{"__proto__":{"polluted":1}}]}',
  );
  for (const path of ["agent", "run", "wakes", "code"]) await stage.post({ path, payload: hostile });
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});
