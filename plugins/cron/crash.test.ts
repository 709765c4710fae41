import { type Channel, definePlugin } from "svc/sdk";
import { createTestGateway, eventually, type FakeClock, fakeClock, fakeModel } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { atFailpoints } from "../../test/fixtures/failpoints.ts";

const start = Date.parse("2026-01-01T00:00:00Z");
const SECOND = 1_000;

/** A channel whose platform takes everything and remembers it. */
function outlet() {
  const sent: Array<{ to: unknown; text: unknown }> = [];
  const channel: Channel = {
    id: "lines",
    meta: { label: "Lines" },
    capabilities: { chatTypes: ["direct"], multiAccount: false },
    config: {
      list: () => ["default"],
      resolve: (_config, accountId) => ({ accountId, enabled: true }),
      inspect: () => ({ enabled: true, configured: true, missing: [] }),
    },
    async start({ signal, state }) {
      state({ lifecycle: "ready" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    async send({ to, text }) {
      sent.push({ to, text: text?.text });
      return { messageId: `m${sent.length}`, at: start };
    },
    target: { normalize: (raw) => raw.trim(), format: (target) => target },
    text: { limit: 1_000, unit: "chars", render: ({ text }) => ({ text }) },
  };
  const plugin = definePlugin({ id: "lines", version: "1.0.0", svc: { api: "^1.0.0" }, setup: (ctx) => void ctx.registerChannel(channel) });
  return { sent, plugin };
}

async function gatewayOn(clock: FakeClock, { stateDir, plugin }: { stateDir?: string; plugin: ReturnType<typeof outlet>["plugin"] }) {
  const model = fakeModel(["The oven is hot.", "The oven is hot."]);
  const gateway = await createTestGateway({
    ...(stateDir === undefined ? {} : { stateDir }),
    plugins: ["store", "agents", "messaging", "cron", plugin],
    workspace: { "HEARTBEAT.md": "" },
    models: [model],
    clock,
  });
  return { gateway, model };
}

type Runs = { entries: Array<{ status: string; runId: string; error?: string }> };

const turn = { sessionTarget: "isolated", payload: { kind: "agentTurn", message: "Remind me of the oven." } };
const announced = { ...turn, delivery: { mode: "announce", channel: "lines", to: "bo" } };
const told = { sessionTarget: "main", payload: { kind: "systemEvent", text: "Mind the oven." } };

const sweep: Array<[point: string, job: object]> = [
  ...["before-claim", "after-claim", "after-run", "after-deliver", "before-finish", "after-finish"].map((point): [string, object] => [
    point,
    announced,
  ]),
  ...["before-claim", "after-claim", "before-event", "after-event"].map((point): [string, object] => [point, told]),
];

test("a slot that is cut off at any of its steps is carried out once", { timeout: 120_000 }, async () => {
  for (const [point, work] of sweep) {
    const name = `${point} of ${work === told ? "an event" : "a message"}`;
    const clock = fakeClock(start);
    const { sent, plugin } = outlet();
    const first = await gatewayOn(clock, { plugin });
    const at = new Date(start + 2 * SECOND).toISOString();
    const job = await first.gateway.rpc<{ id: string }>("cron.add", {
      name: "oven",
      schedule: { kind: "at", at },
      wakeMode: "next-heartbeat",
      ...work,
    });
    let isDead = false;
    // Nothing of the job is done any more once its gateway has come to the point.
    const revive = atFailpoints((reached) => {
      if (reached === `cron.${point}`) isDead = true;
      if (isDead && reached.startsWith("cron.")) throw new Error(`ended at ${reached}`);
    });
    await clock.advance(2 * SECOND);
    await eventually(() => isDead);
    await first.gateway.close({ keepState: true });
    revive();

    const { gateway, model } = await gatewayOn(clock, { stateDir: first.gateway.stateDir, plugin });
    try {
      await clock.advance(20 * SECOND);
      const runs = () => gateway.rpc<Runs>("cron.runs", { id: job.id });
      await eventually(async () => (await runs()).entries.some(({ status }) => status === "ok")).catch(async () => {
        throw new Error(`${name}: ${JSON.stringify(await runs())}`);
      });
      await clock.advance(20 * SECOND);
      const done = (await runs()).entries.filter(({ status }) => status === "ok");
      expect([name, done.map(({ runId }) => runId)]).toEqual([name, [`${job.id}-${start + 2 * SECOND}`]]);
      if (work === told) {
        const events = await gateway.service("store@2").systemEvents.pending("agent:main:main", 10);
        expect([name, events.map(({ text }) => text)]).toEqual([name, ["Mind the oven."]]);
      } else {
        await eventually(() => sent.length > 0);
        expect([name, sent]).toEqual([name, [{ to: "bo", text: "The oven is hot." }]]);
        expect([name, first.model.requests.length + model.requests.length]).toEqual([name, 1]);
      }
    } finally {
      await gateway.close();
    }
  }
});

test("a run that the end of its gateway cut off is recorded as interrupted and is the same run after the next start", async () => {
  const clock = fakeClock(start);
  const { sent, plugin } = outlet();
  const model = fakeModel([{ text: "The ov", hang: true }]);
  const options = {
    plugins: ["store", "agents", "messaging", "cron", plugin],
    config: { gateway: { shutdown: { drainMs: 1_000 } } },
    clock,
  };
  const first = await createTestGateway({ ...options, models: [model] });
  const schedule = { kind: "every", everyMs: 60 * SECOND };
  const { id } = await first.rpc<{ id: string }>("cron.add", { name: "oven", schedule, wakeMode: "now", ...announced });
  await clock.advance(60 * SECOND);
  await eventually(() => model.requests.length === 1);
  await first.close({ keepState: true });

  const { gateway } = await gatewayOn(clock, { stateDir: first.stateDir, plugin });
  onTestFinished(() => gateway.close());
  await clock.advance(0);
  await eventually(() => sent.length === 1);
  expect(sent).toEqual([{ to: "bo", text: "The oven is hot." }]);
  const { entries } = await gateway.rpc<Runs>("cron.runs", { id });
  const runId = `${id}-${start + 60 * SECOND}`;
  expect(entries.filter((entry) => entry.runId === runId).map(({ status, error }) => [status, error?.split(":")[0]])).toEqual([
    ["ok", undefined],
    ["error", "interrupted"],
  ]);
});

test("a reminder that the tool plans outlives a restart and goes to where its conversation was", async () => {
  const clock = fakeClock(start);
  const { sent, plugin } = outlet();
  const { gateway: first } = await gatewayOn(clock, { plugin });
  const store = first.service("store@2");
  await (await first.service("agents@1").run({ message: "hi", trigger: "user", actor: { kind: "internal", scopes: [] } })).done;
  await store.commit([{ op: "session.patch", key: "agent:main:main", patch: { lastRoute: { channel: "lines", to: "bo" } } }]);
  const call = { agentId: "main", sessionKey: "agent:main:main", signal: AbortSignal.timeout(60_000) };
  const { content } = await first.service("agents@1").invokeTool("cron", { action: "add", in: "2s", text: "Remind me of the oven." }, call);
  const [said] = content;
  expect(JSON.parse(said?.type === "text" ? said.text : "")).toMatchObject({
    added: true,
    schedule: "at 2026-01-01T00:00:02.000Z",
    next: { utc: "2026-01-01T00:00:02.000Z", weekday: expect.any(String), local: expect.any(String) },
    answerGoesTo: "lines bo",
  });
  // By then the person writes from elsewhere: the reminder goes to where it was asked for.
  await store.commit([{ op: "session.patch", key: "agent:main:main", patch: { lastRoute: { channel: "lines", to: "someone" } } }]);
  await first.close({ keepState: true });
  await clock.advance(5 * SECOND);

  const { gateway } = await gatewayOn(clock, { stateDir: first.stateDir, plugin });
  onTestFinished(() => gateway.close());
  await clock.advance(0);
  await eventually(() => sent.length === 1);
  await clock.advance(60 * SECOND);
  expect(sent).toEqual([{ to: "bo", text: "The oven is hot." }]);
  await eventually(async () => (await gateway.rpc<{ total: number }>("cron.list", { includeDisabled: true })).total === 0);
});
