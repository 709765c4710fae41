import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectGarbage, held } from "./_garbage.ts";
import { allScopes, BareSocket, connectParams } from "./_ws.ts";

/** Number of connections. Counting shows what each leaves behind, so a few are enough; `test/e2e/storm.long.test.ts` has thousands. */
const CLIENTS = 20;

/** Parts of each connection that the gateway hands out: whoever holds the connection holds them. */
const parts = { clients: [] as WeakRef<object>[], signals: [] as WeakRef<object>[] };

const listened = definePlugin({
  id: "listened",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    ctx.registerRpc({
      method: "listened.listen",
      scope: "read",
      params: z.strictObject({}),
      handler: (_, call) => {
        call.subscribe("listened");
        parts.clients.push(new WeakRef(call.client));
        parts.signals.push(new WeakRef(call.signal));
        return {};
      },
    });
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [listened] });
});
afterAll(() => gateway.close());

/** A function of its own, so that nothing of the test holds a socket. */
async function comeAndGo(): Promise<void> {
  const socket = new BareSocket(gateway.wsUrl);
  await socket.frame((frame) => frame.event === "connect.challenge");
  expect(await socket.request("1", "connect", connectParams(gateway.token, { scopes: allScopes }))).toMatchObject({ ok: true });
  expect(await socket.request("2", "listened.listen", {})).toMatchObject({ ok: true });
  await socket.close();
}

test("a connection that has closed leaves nothing behind in the gateway", async () => {
  await Promise.all(Array.from({ length: CLIENTS }, comeAndGo));
  expect(parts.clients).toHaveLength(CLIENTS);
  await eventually(() => {
    collectGarbage();
    expect({ clients: held(parts.clients), signals: held(parts.signals) }).toEqual({ clients: 0, signals: 0 });
    return true;
  }, 20_000);
});
