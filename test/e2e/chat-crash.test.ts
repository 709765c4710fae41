import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "svc/sdk";
import { createClient, type SvcClient } from "svc/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { watchClient } from "../../sdk/testing/wire-check.ts";
import { okText } from "../fakes/openai-scripts.ts";
import { startFakeOpenAi } from "../fakes/openai-server.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

/** `SVC_TEST_LONG=1`: twenty. */
const ROUNDS = process.env.SVC_TEST_LONG === "1" ? 20 : 2;
const CLIENTS = 2;
/** Moments of the kills; printed with a failure, so that it can be repeated. */
const seed = Number(Math.random().toString().slice(2, 8));

let home: Home;
let gateway: Running | undefined;
let token: string;

beforeAll(async () => {
  home = await createHome();
  home.env.SVC_SAFE_MODE = "off"; // its gateways are killed on purpose
  const setup = await svcCommand(home, ["setup", "--non-interactive", "--if-missing"]);
  expect(setup, setup.stderr).toMatchObject({ code: 0 });
  token = (JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")) as { gateway: { auth: { token: string } } }).gateway.auth
    .token;
});
afterAll(async () => {
  await gateway?.kill("SIGTERM");
  await home?.remove();
});

function random(state: { n: number }): number {
  state.n = (Math.imul(state.n, 1_664_525) + 1_013_904_223) >>> 0;
  return state.n / 2 ** 32;
}

async function connect(url: string): Promise<SvcClient> {
  const client = watchClient(
    createClient({
      url: url.replace("http", "ws"),
      auth: { token },
      client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
      scopes: ["operator.read", "operator.write"],
    }),
  );
  await client.connect();
  return client;
}

/** Sends one message after the other until the process is gone; the unanswered one is sent again by the next round. */
async function chat(client: SvcClient, sessionKey: string, log: { sent: number; acknowledged: Set<string> }): Promise<void> {
  for (;;) {
    const idempotencyKey = `${sessionKey}-${log.sent}`;
    try {
      await client.request("chat.send", { sessionKey, message: `text of ${idempotencyKey}`, idempotencyKey, queueMode: "interrupt" });
    } catch (error) {
      if ((error as { payload?: { status?: string } }).payload?.status !== "error") return;
    }
    log.acknowledged.add(idempotencyKey);
    log.sent += 1;
  }
}

test(`after ${ROUNDS} kills every acknowledged message is in the history, whole and once (seed ${seed})`, async () => {
  const state = { n: seed };
  const logs = Array.from({ length: CLIENTS }, () => ({ sent: 0, acknowledged: new Set<string>() }));
  for (let round = 0; round < ROUNDS; round++) {
    const running = await startGateway(home);
    gateway = running;
    const clients = await Promise.all(logs.map(() => connect(running.url)));
    const chats = clients.map((client, i) => chat(client, `chat-${i}`, logs[i] as (typeof logs)[number]));
    if (round === 0) await eventually(() => logs.every(({ acknowledged }) => acknowledged.size > 0));
    await new Promise((resolve) => setTimeout(resolve, random(state) * 1_500));
    await running.kill("SIGKILL");
    for (const client of clients) await client.close();
    await Promise.all(chats);
  }

  gateway = await startGateway(home);
  const client = await connect(gateway.url);
  for (const [i, { acknowledged, sent }] of logs.entries()) {
    // The message that was cut off goes out again under its key.
    const cut = {
      sessionKey: `chat-${i}`,
      message: `text of chat-${i}-${sent}`,
      idempotencyKey: `chat-${i}-${sent}`,
      queueMode: "interrupt" as const,
    };
    await client.request("chat.send", cut).catch((error: { payload?: { status?: string } }) => expect(error.payload?.status).toBe("error"));
    const rows = await historyOf(client, `chat-${i}`);
    const users = rows.filter((row) => row.role === "user");
    expect(acknowledged.size).toBeGreaterThan(0);
    expect(users.map((row) => row.text)).toEqual(Array.from({ length: sent + 1 }, (_, n) => `text of chat-${i}-${n}`));
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, n) => n + 1));
  }
  await client.close();
});

async function historyOf(client: SvcClient, sessionKey: string): Promise<Array<{ role: string; text: string; id: string; seq: number }>> {
  const pages: JsonObject[][] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: { messages: unknown; nextOffset?: number | undefined } = await client.request("chat.history", {
      sessionKey,
      limit: 1_000,
      offset,
    });
    pages.unshift(page.messages as JsonObject[]);
    offset = page.nextOffset;
  }
  return pages.flat().map((m) => {
    const { id, seq } = m.__svc as { id: string; seq: number };
    return { role: String(m.role), text: (m.content as Array<{ text?: string }>).map((b) => b.text ?? "").join(""), id, seq };
  });
}

test("a response and a chat completion that a kill cut off: the session says so, its key runs nothing again, and earlier responses can be continued", async () => {
  await gateway?.kill("SIGTERM");
  const vendor = await startFakeOpenAi();
  try {
    const file = join(home.stateDir, "svc.json");
    const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }, { id: "slow-drip" }] };
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), models: { providers: { lab } } }));
    gateway = await startGateway(home);
    const post = (body: object, { key, model = "ok" }: { key: string; model?: string }) => {
      const headers = { authorization: `Bearer ${token}`, "idempotency-key": key, "x-svc-session-key": key, "x-svc-model": `lab/${model}` };
      const path = "messages" in body ? "/v1/chat/completions" : "/v1/responses";
      return fetch(`${gateway?.url}${path}`, { method: "POST", headers, body: JSON.stringify({ model: "svc", ...body }) });
    };
    const whole = { input: "one" };
    const first = (await (await post(whole, { key: "whole" })).json()) as { id: string };
    const cut = [
      { key: "cut", body: { input: "drip", stream: true }, delta: "response.output_text.delta" },
      { key: "cut-chat", body: { messages: [{ role: "user", content: "drip" }], stream: true }, delta: '"content":' },
    ];
    const streams = await Promise.all(
      cut.map(async ({ key, body, delta }) => {
        const stream = (await post(body, { key, model: "slow-drip" })).body?.getReader();
        for (let seen = ""; !seen.includes(delta); ) seen += Buffer.from((await stream?.read())?.value ?? []).toString();
        return stream;
      }),
    );
    await gateway.kill("SIGKILL");
    for (const stream of streams) await stream?.cancel().catch(() => undefined);

    gateway = await startGateway(home);
    const client = await connect(gateway.url);
    const asked = () => vendor.requests.filter(({ method }) => method === "POST");
    const before = asked().length;
    const { sessions } = await client.request("sessions.list", { limit: 100 });
    for (const { key, body } of cut) {
      expect(await historyOf(client, key)).toMatchObject([{ role: "user", text: "drip" }]);
      expect(sessions.find((session) => session.key === `agent:main:${key}`)).toMatchObject({ status: "interrupted" });
      for (const again of [body, body])
        expect(await (await post(again, { key, model: "slow-drip" })).text()).toContain('"code":"interrupted"');
    }
    const again = await post(whole, { key: "whole" });
    expect([again.headers.get("idempotent-replay"), await again.json()]).toMatchObject(["true", first]);
    expect(asked().length).toBe(before);

    const headers = { authorization: `Bearer ${token}`, "x-svc-session-key": "whole", "x-svc-model": "lab/ok" };
    const next = { model: "svc", input: "two", previous_response_id: first.id };
    const answer = await fetch(`${gateway.url}/v1/responses`, { method: "POST", headers, body: JSON.stringify(next) });
    expect(await answer.json()).toMatchObject({ status: "completed", previous_response_id: first.id });
    const sent = asked().at(-1)?.body as { messages: Array<{ content: string }> } | undefined;
    expect(sent?.messages.slice(1).map(({ content }) => content)).toEqual(["one", okText, "two"]);
    await client.close();
  } finally {
    await vendor.close();
  }
});
