import { createClient } from "svc/sdk/client";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Running } from "./_process.ts";
import { runSeed, type Storm, seeded, startStorm } from "./_storm.ts";

/** `SVC_TEST_LONG=1`: all twenty moments. */
const moments = process.env.SVC_TEST_LONG === "1" ? 20 : 3;
const CLIENTS = 20;

let storm: Storm;
afterEach(async () => {
  await storm.stop();
  await stopAll();
});

interface Message {
  role: string;
  content: string | Array<{ type: string; text?: string }>;
}

async function historyOf(gateway: Running, sessionKeys: string[]): Promise<Map<string, string[]>> {
  const client = createClient({
    url: gateway.url.replace("http", "ws"),
    auth: { token },
    client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
    scopes: ["operator.read"],
  });
  await client.connect();
  const entries = sessionKeys.map(async (sessionKey) => {
    const { messages } = (await client.request("chat.history", { sessionKey, limit: 1_000 })) as { messages: Message[] };
    return [sessionKey, messages.filter((m) => m.role === "user").map(textOf)] as const;
  });
  const found = new Map(await Promise.all(entries));
  await client.close();
  return found;
}

function textOf({ content }: Message): string {
  return typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
}

test(`stopped at ${moments} moments of its work: exit 0, shutdown before the close frame on every socket, no acknowledged message lost or doubled (seed ${runSeed})`, async () => {
  const random = seeded(runSeed);
  storm = startStorm();
  const home = await configured(await freshHome());
  let gateway = await gatewayIn(home);
  for (let moment = 0; moment < moments; moment++) {
    await storm.open({ url: gateway.url.replace("http", "ws"), token, count: CLIENTS });
    const talk = storm.chat({ name: `m${moment}` });
    // One round at least has something to lose.
    if (moment === 0) await eventually(async () => (await storm.state()).acknowledgements > 0);
    await new Promise((resolve) => setTimeout(resolve, random() * 1_500));

    const code = await gateway.kill("SIGTERM");
    const acknowledged = await talk;
    const { clients } = await storm.state();
    await storm.forget();

    if (moment === 0) expect(acknowledged.length).toBeGreaterThan(0);
    expect(code, gateway.out.stderr.slice(-2_000)).toBe(0);
    expect(clients.map((c) => `${c.lastEvent}, ${c.closed}, ${c.gaps}`)).toEqual(Array(CLIENTS).fill("shutdown, 1001 gateway stopping, 0"));
    expect(gateway.out.stderr).not.toMatch(/unhandled|uncaught/i);

    gateway = await gatewayIn(home);
    const history = await historyOf(gateway, [...new Set(acknowledged.map((a) => a.sessionKey))]);
    const times = (a: { sessionKey: string; message: string }) => history.get(a.sessionKey)?.filter((text) => text === a.message).length;
    expect(acknowledged.filter((a) => times(a) !== 1)).toEqual([]);
  }
}, 300_000);
