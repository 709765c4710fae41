import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectGarbage, held } from "./_garbage.ts";
import { instances } from "./_reload.ts";

/** Every second one replaces the plugin `small`. Counting shows what each leaves behind, so a few are enough; `test/e2e/reload-storm.long.test.ts` has hundreds. */
const EDITS = 12;

/** Contexts of `small` and configs in force as they came, for as long as something holds them. */
const contexts: WeakRef<object>[] = [];
const snapshots: WeakRef<object>[] = [];

const steady = definePlugin<unknown>({
  id: "steady",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    let n = 0;
    ctx.timers.setInterval(() => ctx.emit("count", { n: ++n }, { scope: "read", topic: "steady" }), 5);
    ctx.registerRpc({
      method: "steady.listen",
      scope: "read",
      params: z.strictObject({}),
      handler: (_, call) => {
        call.subscribe("steady");
        return {};
      },
    });
  },
});

/** Registers one of each kind, so that whatever is not taken back holds an old context. */
const small = definePlugin({
  id: "small",
  version: "1.0.0",
  svc: { api: "*" },
  config: z.strictObject({ n: z.number().default(0) }),
  setup(ctx) {
    contexts.push(new WeakRef(ctx));
    ctx.registerHttpRoute({
      method: "POST",
      path: "/small",
      match: "exact",
      auth: "gateway",
      handler: async (call) => {
        const text = await call.text();
        await new Promise((resolve) => setTimeout(resolve, 2)); // so that reloads find requests under way
        ctx.signal.throwIfAborted();
        return { body: `${text} ${ctx.id}` };
      },
    });
    ctx.registerRpc({
      method: "small.echo",
      scope: "read",
      params: z.strictObject({ x: z.number() }),
      handler: ({ x }) => ({ x, id: ctx.id }),
    });
    ctx.on("config.changed", () => void ctx.config);
    ctx.onReload({ prefixes: ["session"], prepare: async () => ({ apply: () => void ctx.config, discard: () => undefined }) });
    ctx.timers.setInterval(() => void ctx.config, 1_000);
    ctx.signal.addEventListener("abort", () => void ctx.config);
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [steady, small], config: configAt(0) });
});
afterAll(() => gateway.close());

function configAt(edit: number) {
  return {
    // Only the test reloads.
    gateway: { reload: { mode: "off" as const } },
    logging: { redactPatterns: [`edit-${edit}`] },
    session: { reset: { mode: "daily" as const, atHour: edit % 24 } },
    plugins: { entries: { small: { config: { n: Math.floor(edit / 2) } } } },
  };
}

test("config edits and plugin reloads under load drop no request, lose no subscription, touch no other plugin and leave nothing behind", async () => {
  const client = await gateway.client();
  const request = <T>(method: string, params = {}) => client.request(method as never, params as never) as Promise<T>;
  const counts: number[] = [];
  client.on("plugin.steady.count", ({ n }) => void counts.push(n as number));
  await request("steady.listen");
  const before = instances(gateway);

  let isOver = false;
  let requests = 0;
  const worker = async (ask: (i: number) => Promise<void>) => {
    for (let i = 0; !isOver; i++, requests++) await ask(i);
  };
  const load = Promise.allSettled([
    worker(async (i) => {
      const answer = await gateway.fetch("/small", { method: "POST", body: `body ${i}` });
      expect([answer.status, await answer.text()]).toEqual([200, `body ${i} small`]);
    }),
    worker(async (i) => expect(await request("small.echo", { x: i })).toEqual({ x: i, id: "small" })),
    worker(async () => expect(await request("health")).toMatchObject({ ok: true })),
  ]);
  try {
    for (let edit = 1; edit <= EDITS; edit++) {
      expect(await gateway.reload(configAt(edit))).toMatchObject({ status: "applied" });
      snapshots.push(new WeakRef(gateway.gateway.config()));
    }
    const heard = counts.length;
    await eventually(() => counts.length > heard);
  } finally {
    isOver = true;
  }
  expect((await load).filter(({ status }) => status === "rejected")).toEqual([]);

  expect(requests).toBeGreaterThan(EDITS);
  expect(counts).toEqual(counts.map((_, i) => (counts[0] as number) + i));
  expect(instances(gateway)).toEqual({ ...before, small: (before.small ?? 0) + EDITS / 2 });
  expect(contexts).toHaveLength(1 + EDITS / 2);
  await eventually(() => {
    collectGarbage();
    return held(contexts) === 1 && held(snapshots) === 1;
  }, 20_000);
});
