import { type EndedSpan, SendRefusedError } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTalkPlatform, echoModel } from "../../test/fixtures/talk-platform.ts";

const platform = createTalkPlatform();
const spans: EndedSpan[] = [];
let gw: TestGateway;

beforeAll(async () => {
  // The channel ends by itself at its first start.
  platform.onStart = ({ account }) => (account.accountId === "work" && platform.starts.length < 3 ? Promise.resolve() : undefined);
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", platform.plugin],
    models: [echoModel()],
    config: {
      agents: { defaults: { skipBootstrap: true } },
      channels: { talk: { token: "good", allowFrom: ["*"], dmPolicy: "open", accounts: { work: {} } } },
    },
  });
  gw.service("diagnostics@1").recordSpans((span) => void spans.push(span), { sampleRate: 1 });
  await eventually(() => platform.running.has("default"));
});
afterAll(() => gw?.close());

const sampleOf = (name: string, ...labelValues: string[]) =>
  gw
    .service("diagnostics@1")
    .metrics()
    .find((family) => family.name === name)
    ?.series.find((series) => labelValues.every((value, i) => series.labelValues[i] === value))?.value;

test("an account whose channel ended by itself is counted as started again, and shown in its state", async () => {
  await eventually(() => sampleOf("channel_restarts_total", "talk", "work", "ended") === 1);
  await eventually(() => sampleOf("channel_account_state", "talk", "default", "ready") === 1);
  expect(sampleOf("channel_connected", "talk", "default")).toBe(1);
  expect(sampleOf("channel_restarts_total", "talk", "default")).toBeUndefined();
});

test("messages in and out are counted, and an answer is sent in the trace of its run", async () => {
  await platform.say("hello");
  await eventually(() => platform.sent.length === 1);
  await eventually(() => sampleOf("deliveries_total", "talk", "sent") === 1);
  expect(sampleOf("channel_inbound_total", "talk", "accepted")).toBe(1);
  const sent = await eventually(() => spans.find(({ name }) => name === "send talk"));
  const run = await eventually(() => spans.find(({ name }) => name === "agent run"));
  expect([sent.traceId, sent.kind, sent.parentId]).toEqual([run.traceId, "producer", run.spanId]);
});

test("a message that the platform refuses for good is counted as failed, and its span says why", async () => {
  platform.onSend = () => Promise.reject(new SendRefusedError("not a member", { isPermanent: true }));
  await gw.rpc("send", { idempotencyKey: "k", message: "Hello.", to: "talk:@ada" }).catch(() => undefined);
  await eventually(() => sampleOf("deliveries_total", "talk", "failed") === 1);
  expect(spans.filter(({ name }) => name === "send talk").at(-1)?.error).toBe("not a member");
});
