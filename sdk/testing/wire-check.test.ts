import { type ClientInfo, definePlugin, methodOf, type RpcCall } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allMethods } from "../../test/tools/protocol-tables.ts";
import { checkAnswer, checkEvent, createFrameCheck, throwWireFaults } from "./wire-check.ts";

const isCaller = (call: RpcCall) => (client: ClientInfo) => client.connId === call.client.connId;

const wrong = definePlugin<unknown>({
  id: "wrong-memory",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    ctx.registerRpc({ ...methodOf(allMethods, "memory.reset"), handler: () => ({ agentId: "main", removed: "yes" }) });
    ctx.registerRpc({
      ...methodOf(allMethods, "memory.index"),
      handler(_params, call) {
        call.accept({ status: "accepted", agentId: "main", started: 1, joined: false });
        ctx.emit("memory.progress", { agentId: "main", phase: "boil", done: 0, total: 0 }, { only: isCaller(call) });
        return { agentId: "main", started: true, joined: false };
      },
    });
    ctx.registerRpc({ method: "wrong-memory.anything", scope: "read", params: allMethods.health.params, handler: () => 7 });
  },
});

describe("a test gateway's client", () => {
  let gw: TestGateway;
  beforeAll(async () => {
    gw = await createTestGateway({ plugins: [wrong] });
  });
  afterAll(() => gw.close());

  test("tells of an answer that the protocol does not allow: method, path, rule", async () => {
    await gw.rpc("memory.reset");

    expect(throwWireFaults).toThrow(/^the gateway said .*\nanswer of memory\.reset: at removed: expected boolean, received string$/);
    expect(throwWireFaults).not.toThrow();
  });

  test("looks at both answers of a method that has two, and at events", async () => {
    const client = await gw.client();
    const told = new Promise((resolve) => client.on("memory.progress", resolve));
    await client.request("memory.index", {}, { onAccepted: () => undefined });
    await told;

    expect(throwWireFaults).toThrow(/answer of memory\.index: at started: [^\n]+\nevent memory\.progress: at phase: Invalid option/);
  });

  test("has nothing against what is right, nor against what plugins say in their own name", async () => {
    await gw.rpc("health");
    await gw.rpc("wrong-memory.anything");
    checkEvent("plugin.wrong-memory.said", 7);

    expect(throwWireFaults).not.toThrow();
  });
});

describe("a bare socket's frames", () => {
  const faultsOf = (...frames: unknown[]) => {
    const check = createFrameCheck();
    check.sent({ type: "req", id: "1", method: "system-presence" });
    for (const frame of frames) check.received(frame);
    try {
      throwWireFaults();
    } catch (error) {
      return (error as Error).message.split("\n").slice(1);
    }
    return [];
  };
  const event = { type: "event", event: "tick", payload: { ts: 1 }, seq: 1 };
  const res = { type: "res", id: "1", ok: true, payload: [] };

  test.each([
    ["an event", event],
    ["an event with a field that came later", { ...event, payload: { ts: 1, later: true } }],
    ["an answer", res],
    ["an error", { ...res, ok: false, error: { code: "UNAVAILABLE", message: "no", details: { code: "BUSY" }, retryAfterMs: 5 } }],
    ["an answer to nobody's question", { ...res, id: "other", payload: 1 }],
  ])("may be %s", (_name, frame) => {
    expect(faultsOf(frame)).toEqual([]);
  });

  test.each([
    ["a stray key of the envelope", { ...event, extra: 1 }, /^frame: at root: Unrecognized key/],
    ["a wrong number", { ...event, seq: 0 }, /^frame: at seq: /],
    ["an unknown code", { ...res, ok: false, error: { code: "NOPE", message: "no" } }, /^frame: at error\.code: /],
    ["a failure that says nothing", { ...res, ok: false }, /^frame: ok false without an error$/],
    ["a success with an error", { ...res, error: { code: "UNAVAILABLE", message: "no" } }, /^frame: ok true with an error$/],
    ["a wrong payload", { ...res, payload: [{ ts: "now" }] }, /^answer of system-presence: at 0\.ts: expected number, received string$/],
  ])("may not have %s", (_name, frame, fault) => {
    expect(faultsOf(frame)).toEqual([expect.stringMatching(fault)]);
  });
});

test("of alternatives the one that came nearest is told about", () => {
  checkAnswer("agent", { status: "in_flight", runId: "r", sessionKey: "agent:main:main" });

  expect(throwWireFaults).toThrow(/answer of agent: at agentId: expected string, received undefined$/);
});
