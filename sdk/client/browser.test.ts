import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type ScriptedGateway, startScriptedGateway } from "../../test/fakes/scripted-gateway.ts";
import { createClient } from "./browser.ts";

// `ws` has the browser's face too (`onopen`, `onmessage`, `onclose`); the page itself is tested in test/e2e/control-ui.
class PageSocket extends WebSocket {
  constructor(url: string) {
    super(url);
    this.on("error", () => undefined); // a page is told by `onclose` alone
  }
}
const page = globalThis as { WebSocket?: unknown };
const own = page.WebSocket;
let gateway: ScriptedGateway;
beforeEach(async () => {
  page.WebSocket = PageSocket;
  gateway = await startScriptedGateway({ onRequest: (peer, frame) => peer.answer(frame.id, { echo: frame.method }) });
});
afterEach(async () => {
  page.WebSocket = own;
  await gateway.close();
});

it("connects, asks, hears events and closes over the page's own WebSocket", async () => {
  const client = createClient({ url: gateway.url, client: { id: "svc-control-ui" } });
  await client.connect();
  expect(await client.request("health", {})).toEqual({ echo: "health" });
  const peer = await gateway.peer(1);
  expect(peer.connect.client).toEqual({ id: "svc-control-ui", version: "1.0.0", platform: "browser", mode: "ui" });
  const tick = new Promise((resolve) => client.on("tick", resolve));
  peer.event("tick", { ts: 1 }, { seq: 1 });
  expect(await tick).toEqual({ ts: 1 });
  await client.close();
  expect(await peer.closed).toMatchObject({ code: 1000 });
});

it("reports a connection that never opened, and the code and reason of one that was closed", async () => {
  const client = createClient({ url: gateway.url, reconnect: false });
  await client.connect();
  const ended = new Promise((resolve) => client.onState(resolve));
  (await gateway.peer(1)).close(4001, "gateway auth changed");
  expect(await ended).toMatchObject({ state: "closed", error: { details: { closeCode: 4001, reason: "gateway auth changed" } } });
  await gateway.close();
  await expect(client.connect()).rejects.toMatchObject({ code: "gateway-unreachable", details: { reason: "network" } });
  gateway = await startScriptedGateway();
});
