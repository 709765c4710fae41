import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Running } from "./_process.ts";

/** Seeded fuzz of the webhook door of a real process; `SVC_FUZZ_SEED` plays a failure again. */
const seconds = Number(process.env.SVC_FUZZ_SECONDS ?? "8") / 4;
const seed = Number(process.env.SVC_FUZZ_SEED ?? Date.now() % 2 ** 31);
const HOOK_TOKEN = "hook-token-of-the-fuzz-suite-0123456789";

const templates = {
  name: "{{name}}",
  sessionKey: "hook:fuzz:{{a.b[0].c}}",
  messageTemplate: "{{message}} {{payload}} {{a}} {{items[0]}} {{headers.x-any}} {{query.q}} {{__proto__.polluted}} {{constructor}}",
  textTemplate: "fixed {{text}} {{a.b}} {{items[0].text}}",
};
const hooks = {
  enabled: true,
  token: HOOK_TOKEN,
  allowRequestSessionKey: true,
  allowedSessionKeyPrefixes: ["hook:"],
  mappings: [
    { match: { path: "run" }, ...templates, deliver: false },
    { match: { path: "tell" }, action: "wake", wakeMode: "next-heartbeat", textTemplate: templates.textTemplate },
    { match: { path: "list" }, action: "wake", wakeMode: "next-heartbeat", textTemplate: templates.textTemplate, forEach: "items" },
    { match: { path: "signed" }, messageTemplate: "m", verify: { provider: "slack", secret: "s", mode: "instead" } },
  ],
};

let gateway: Running;
beforeAll(async () => {
  const agents = { defaults: { model: "none/none" } };
  gateway = await gatewayIn(await configured(await freshHome(), { gateway: { mode: "local", auth: { token } }, agents, hooks }));
}, 120_000);
afterAll(stopAll, 60_000);

const names = fc.constantFrom(
  ...[
    "message",
    "text",
    "mode",
    "name",
    "agentId",
    "sessionKey",
    "sessionMode",
    "wakeMode",
    "deliver",
    "channel",
    "to",
    "model",
    "thinking",
  ],
  ...["timeoutSeconds", "idempotencyKey", "items", "a", "source", "__proto__", "constructor", "type", "challenge"],
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "",
    " ",
    "now",
    "next-heartbeat",
    "hook:x",
    "agent:main:main",
    "cron:x",
    "main",
    "last",
    "webchat",
    "\u0000",
    "\ud800",
    "{{text}}",
  ),
  fc.constantFrom('<<<EXTERNAL_UNTRUSTED_CONTENT id="x">>>', "\u202e", "persistent", "x".repeat(3_000)),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double(),
    fc.constantFrom(null, true, false, 0, -1, 1e308),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(names, tie("any"), { maxKeys: 5, noNullPrototype: true }),
  ),
})).any as fc.Arbitrary<unknown>;
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(names, value, { maxKeys: 8, noNullPrototype: true }).map((one) => JSON.stringify(one)) },
  { weight: 2, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90_000 }).map((depth) => "[".repeat(depth)) },
);
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("wake", "agent", "run", "tell", "list", "signed", "run?q=1&q=2", "") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("/wake", "WAKE", "wake;x", "wa%6be", "wake/", "run%00", "%zz", "run?token=x"),
  },
);
const header = fc.constantFrom<[string, string]>(
  ["idempotency-key", "k1"],
  ["idempotency-key", " "],
  ["x-svc-idempotency-key", "k".repeat(300)],
  ["content-type", "text/xml"],
  ["x-any", "{{text}}"],
  ["x-slack-signature", "v0=00"],
  ["x-slack-request-timestamp", "-1"],
);

test(`any body at any path is answered with a status of the table, and whoever holds the token is never shut out (seed ${seed})`, {
  timeout: seconds * 1_000 + 90_000,
}, async () => {
  const asked = fc.record({ path, body, headers: fc.array(header, { maxLength: 3 }) });
  const property = fc.asyncProperty(asked, async ({ path, body, headers }) => {
    const response = await fetch(`${gateway.url}/hooks/${path}`, {
      method: "POST",
      body,
      headers: { ...Object.fromEntries(headers), authorization: `Bearer ${HOOK_TOKEN}` },
    });
    const said = await response.text();
    expect([200, 204, 400, 401, 404, 413, 429]).toContain(response.status);
    if (response.headers.get("content-type")?.startsWith("application/json")) {
      expect(JSON.parse(said).ok).toBe(response.status === 200);
    }
    expect(said).not.toMatch(/ at .*\.(js|ts):\d+/);
    expect(said).not.toContain(HOOK_TOKEN);
    expect(gateway.child.exitCode).toBeNull();
    expect(gateway.out.stderr).not.toMatch(/uncaught|unhandled|FATAL/i);
  });
  await fc.assert(property, { seed, numRuns: 1_000_000, interruptAfterTimeLimit: seconds * 1_000, markInterruptAsFailure: false });

  const well = await fetch(`${gateway.url}/hooks/wake`, {
    method: "POST",
    body: '{"text":"still here"}',
    headers: { "x-svc-token": HOOK_TOKEN },
  });
  expect([well.status, Object.hasOwn(await well.json(), "polluted")]).toEqual([200, false]);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
});
