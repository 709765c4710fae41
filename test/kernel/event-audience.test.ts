import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gate } from "./_plugins.ts";
import { type BareSocket, connected } from "./_ws.ts";

let gateway: TestGateway;
/** Says something from outside a call. */
let say: (event: string) => void;
const { opened, open } = gate();

const speaker = definePlugin({
  id: "speaker",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    say = (event) => ctx.emit(event, { event }, { scope: "read", topic: "speaker" });
    ctx.registerTool({ name: "look", description: "Looks", input: z.object({}), run: () => "seen" });
    ctx.registerTool({ name: "wait", description: "Waits", input: z.object({}), run: () => opened.then(() => "seen") });
    ctx.registerRpc({
      method: "speaker.listen",
      scope: "read",
      params: z.strictObject({}),
      handler: (_, call) => {
        call.subscribe("speaker");
        return {};
      },
    });
  },
});
const callOf = (name: string) => [{ toolCalls: [{ name, args: {} }] }, "Done."];

beforeAll(async () => {
  const models = [fakeModel([...callOf("look"), ...callOf("wait")])];
  gateway = await createTestGateway({ plugins: ["store", "agents", speaker], models });
});
afterAll(() => gateway.close());

const streams = (socket: BareSocket, runId: string) =>
  new Set(socket.frames.filter((f) => f.event === "agent" && f.payload.runId === runId).map((f) => f.payload.stream));
const isGapless = (socket: BareSocket) => {
  const seqs = socket.frames.filter((f) => f.seq !== undefined).map((f) => f.seq);
  return seqs.length > 0 && seqs.every((seq, i) => seq === i + 1);
};

describe("of a run with a tool call", () => {
  test("who started it and can show tools gets them; others get steps, or nothing; each without a gap", async () => {
    const [starter, scoped, plain, stranger, deaf] = await Promise.all([
      connected(gateway, { caps: ["tool-events"] }),
      connected(gateway, { caps: ["session-scoped-events"] }),
      connected(gateway),
      connected(gateway, { caps: ["tool-events"] }),
      connected(gateway, { scopes: [] }),
    ]);
    const params = { message: "go", idempotencyKey: "r1", sessionKey: "here" };
    starter.send({ type: "req", id: "run", method: "agent", params });
    await starter.frame((f) => f.id === "run" && f.payload?.status === "ok");
    for (const socket of [scoped, plain, stranger]) await socket.request("after", "health");

    expect(streams(starter, "r1")).toContain("tool");
    expect(streams(starter, "r1")).not.toContain("item");
    expect(streams(plain, "r1")).toContain("item");
    expect(streams(plain, "r1")).not.toContain("tool");
    expect(streams(stranger, "r1")).toContain("lifecycle");
    expect(streams(stranger, "r1")).not.toContain("tool");
    expect(streams(scoped, "r1")).toEqual(new Set());
    expect(deaf.frames.filter((f) => ["agent", "chat", "sessions.changed"].includes(f.event))).toEqual([]);
    expect([starter, plain, stranger].map(isGapless)).toEqual([true, true, true]);
    await Promise.all([starter, scoped, plain, stranger, deaf].map((s) => s.close()));
  });

  test("who joined it by its key gets tools from then on, and a followed session reaches scoped connections", async () => {
    const [starter, joined, scoped] = await Promise.all([
      connected(gateway),
      connected(gateway, { caps: ["tool-events"] }),
      connected(gateway, { caps: ["session-scoped-events"] }),
    ]);
    await scoped.request("s", "sessions.messages.subscribe", { key: "there" });
    const params = { message: "go", idempotencyKey: "r2", sessionKey: "there" };
    starter.send({ type: "req", id: "run", method: "agent", params });
    await eventually(() => streams(starter, "r2").has("item"));
    expect((await joined.request("again", "agent", params)).payload).toMatchObject({ runId: "r2", status: "in_flight" });
    open();
    await starter.frame((f) => f.id === "run" && f.payload?.status === "ok");
    await joined.request("after", "health");

    const phases = joined.frames.filter((f) => f.event === "agent" && f.payload.stream === "tool").map((f) => f.payload.data.phase);
    expect(phases).toEqual(["result"]);
    expect(streams(scoped, "r2")).toContain("item");
    await Promise.all([starter, joined, scoped].map((s) => s.close()));
  });
});

test("a connection whose right has ended hears nothing more, not even of the same moment", async () => {
  const own = await createTestGateway({ plugins: ["store", "agents", speaker] });
  try {
    const socket = await connected(own);
    await socket.request("1", "speaker.listen");
    say("before");
    await socket.frame((f) => f.event === "plugin.speaker.before");
    await own.reload({ gateway: { auth: { token: "another-token-0123" } } });
    say("after");
    expect((await socket.end()).code).toBe(4001);
    expect(socket.frames.some((f) => f.event === "plugin.speaker.after")).toBe(false);
  } finally {
    await own.close();
  }
});
