import fc from "fast-check";
import type { MessageRow } from "svc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, type Frame, outline, record } from "../fixtures/agents-gateway.ts";
import { connected } from "./_ws.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway({ config: { messages: { queue: { debounceMs: 0, drop: "new", cap: 50 } } } });
});
afterAll(() => gw.close());

let rounds = 0;
/** A session of its own for each round. */
const newKey = (agentId: string) => `agent:${agentId}:race-${++rounds}`;

const terminal = new Set(["chat final", "chat aborted", "chat error"]);

/** One end of the chat, one end of the life, and nothing behind it. */
function expectOneEnd(frames: readonly Frame[], runId: string): void {
  const told = outline(frames, runId);
  expect(told.filter((t) => terminal.has(t))).toHaveLength(1);
  expect(told.filter((t) => t === "lifecycle end" || t === "lifecycle error")).toHaveLength(1);
  expect(told.at(-1)).toMatch(/^lifecycle (end|error)$/);
  const seqs = frames.filter((f) => f.event === "agent" && f.payload.runId === runId).map((f) => Number(f.payload.seq));
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
}

async function settle(runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    for (;;) {
      const { status } = await gw.rpc<{ status: string }>("agent.wait", { runId, timeoutMs: 50 });
      if (status === "ok" || status === "error") break;
      await gw.release();
    }
  }
}

const hops = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

const rowsOf = (sessionId: string): Promise<MessageRow[]> => gw.service("store@2").messages.page(sessionId, { limit: 1_000 });
const textOf = (row: MessageRow): string => (row.content[0]?.type === "text" ? row.content[0].text : "");

test("the order of acknowledgements is the order of the transcript, whoever writes at the same time", async () => {
  const sockets = [await connected(gw), await connected(gw)] as const;
  const step = fc.record({ who: fc.constantFrom(0, 1), method: fc.constantFrom("chat.send", "agent"), pause: fc.nat(3) });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const sessionKey = newKey("main");
      const sent = steps.map((_, i) => `${sessionKey}#${i}`);
      for (const [i, { who, method, pause }] of steps.entries()) {
        const message = sent[i] as string;
        sockets[who]?.send({ type: "req", id: message, method, params: { sessionKey, message, idempotencyKey: message } });
        await hops(pause);
      }
      for (const [i, { who }] of steps.entries()) await sockets[who]?.frame((f) => f.id === sent[i]);
      await settle(sent);

      const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey });
      const stored = (await rowsOf(sessionId)).filter((r) => r.role === "user").map(textOf);
      expect([...stored].sort()).toEqual([...sent].sort());
      for (const { frames } of sockets) {
        const acknowledged = frames
          .filter((f) => sent.includes(f.id) && ["started", "accepted"].includes(f.payload?.status))
          .map((f) => f.id);
        expect(stored.filter((message) => acknowledged.includes(message))).toEqual(acknowledged);
      }
    }),
    { numRuns: 12 },
  );
  for (const socket of sockets) await socket.close();
});

test("a stop during a tool call ends the run once, at whatever moment it comes", async () => {
  const client = await gw.client();
  await fc.assert(
    fc.asyncProperty(fc.nat(12), fc.boolean(), async (pause, isReleased) => {
      const frames = record(client);
      const sessionKey = newKey("slow-tool");
      await client.request("chat.send", { sessionKey, message: "hi", idempotencyKey: sessionKey });
      await hops(pause);
      const released = isReleased ? gw.release() : undefined;
      const { aborted } = await gw.rpc<{ aborted: boolean }>("chat.abort", { sessionKey });
      await released;
      await settle([sessionKey]);
      await client.request("health", {});

      const outcome = await gw.rpc<{ status: string; stopReason: string }>("agent.wait", { runId: sessionKey });
      expect(outcome).toMatchObject(aborted ? { status: "error", stopReason: "rpc" } : { status: "ok" });
      expectOneEnd(frames, sessionKey);
      const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey });
      const before = (await rowsOf(sessionId)).length;
      await gw.release();
      await hops(5);
      expect(await rowsOf(sessionId)).toHaveLength(before);
      expect(await gw.rpc("sessions.describe", { key: sessionKey })).toMatchObject({ session: { hasActiveRun: false } });
    }),
    { numRuns: 15 },
  );
});

type Step = { kind: "send" | "reset" | "abort" | "release"; mode: "followup" | "collect" | "steer" | "interrupt"; pause: number };

test("whatever is sent, stopped and reset meanwhile: each message is kept once, each run ends once and in the transcript it began in", async () => {
  const client = await gw.client();
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom("send", "send", "send", "reset", "abort", "release"),
    mode: fc.constantFrom("followup", "collect", "steer", "interrupt"),
    pause: fc.nat(6),
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("held", "slow-tool"), fc.array(step, { minLength: 4, maxLength: 14 }), async (agentId, steps) => {
      const frames = record(client);
      const sessionKey = newKey(agentId);
      const transcripts = new Set<string>();
      const order: string[] = [];
      const pending: Promise<unknown>[] = [];
      const { sessionId: first } = await client.request<{ sessionId: string }>("sessions.create" as string, { key: sessionKey });
      transcripts.add(first);
      for (const [i, { kind, mode, pause }] of steps.entries()) {
        const message = `${sessionKey}#${i}`;
        const request = { sessionKey, message, idempotencyKey: message, queueMode: mode };
        if (kind === "send") pending.push(client.request("chat.send", request).then(() => order.push(message)));
        else if (kind === "abort") pending.push(client.request("chat.abort", { sessionKey }));
        else if (kind === "release") pending.push(gw.release());
        else {
          const reset = client.request<{ entry: { sessionId: string } }>("sessions.reset" as string, { key: sessionKey });
          pending.push(reset.then(({ entry }) => transcripts.add(entry.sessionId)));
        }
        await hops(pause);
      }
      await Promise.all(pending);
      await settle(order);
      await client.request("health", {});

      const all = await Promise.all([...transcripts].map(rowsOf));
      const stored = all.map((rows) => rows.filter((r) => r.role === "user").map(textOf));
      expect(stored.flat().sort()).toEqual([...order].sort());
      for (const messages of stored) expect(messages).toEqual(order.filter((message) => messages.includes(message)));
      const placeOf = (runId: string) => all.flatMap((rows, i) => (rows.some((r) => r.runId === runId) ? [i] : []));
      for (const runId of order) {
        expect(placeOf(runId)).toHaveLength(1);
        expectOneEnd(frames, runId);
      }
      expect(await gw.rpc("sessions.describe", { key: sessionKey })).toMatchObject({ session: { hasActiveRun: false } });
      expect(await gw.service("store@2").runs.unfinished()).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
