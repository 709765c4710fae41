import type { ApprovalOutcome, ApprovalRecord, JsonObject } from "svc/sdk";
import { createTestGateway, fakeClock, type TestGateway, type TestSocket } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MAX_OPEN_EACH } from "./board.ts";

const clock = fakeClock();
let gw: TestGateway;
let approver: TestSocket;
let asker: TestSocket;
const sockets: TestSocket[] = [];

/** A socket for one test. */
async function connect(scopes: string[], caps: string[] = []): Promise<TestSocket> {
  const socket = await gw.ws({ scopes, caps });
  sockets.push(socket);
  return socket;
}

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["approvals"], clock });
});
afterAll(() => gw.close());
beforeEach(async () => {
  approver = await connect(["operator.approvals"], ["approvals"]);
  asker = await connect(["operator.approvals"]);
});
/** A day later nothing of a test is open or remembered, and the next one meets nobody of it. */
afterEach(async () => {
  await clock.advance(86_400_000 + 15_000);
  for (const socket of sockets.splice(0)) await socket.close();
});

const families = [
  ["exec", { command: "rm -rf build" }],
  ["plugin", { title: "Send it?", description: "A mail to ann" }],
] as const;
const invalid = (fields: JsonObject) => ({ code: "INVALID_REQUEST", ...fields });
const notFound = invalid({ message: "unknown or expired approval id", details: { reason: "APPROVAL_NOT_FOUND" } });

/** Asks in two phases: resolves with what was accepted and the promise of the end. */
async function ask(family: string, params: JsonObject): Promise<{ id: string; accepted: JsonObject; final: Promise<ApprovalOutcome> }> {
  const told: { final?: Promise<ApprovalOutcome> } = {};
  const accepted = await new Promise<JsonObject>((resolve, reject) => {
    told.final = asker.client.request<ApprovalOutcome>(
      `${family}.approval.request`,
      { ...params, twoPhase: true },
      { onAccepted: resolve },
    );
    told.final.catch(reject);
  });
  return { id: String(accepted.id), accepted, final: told.final as Promise<ApprovalOutcome> };
}

describe.each(families)("%s approvals", (family, question) => {
  test("are accepted, shown to approvers, decided, and told to everybody", async () => {
    const { id, accepted, final } = await ask(family, question);
    const shown = (await approver.event(`${family}.approval.requested`)) as unknown as ApprovalRecord;
    const lasts = family === "exec" ? 1_800_000 : 120_000;
    expect(accepted).toEqual({ status: "accepted", id, createdAtMs: clock.now(), expiresAtMs: clock.now() + lasts });
    expect(shown).toMatchObject({ approvalKind: family, id, request: question, expiresAtMs: clock.now() + lasts });
    expect(id.startsWith("plugin:")).toBe(family === "plugin");

    expect(await approver.request(`${family}.approval.resolve`, { id, decision: "allow-once" })).toEqual({ ok: true });
    expect(await final).toEqual({ id, decision: "allow-once", createdAtMs: clock.now(), expiresAtMs: clock.now() + lasts });
    const resolved = await asker.event(`${family}.approval.resolved`);
    expect(resolved).toEqual({ id, decision: "allow-once", resolvedBy: "gateway-client", ts: clock.now(), request: shown.request });
  });

  test("answer once when asked in one phase", async () => {
    const final = asker.request<JsonObject>(`${family}.approval.request`, question);
    const { id } = await approver.event(`${family}.approval.requested`);
    await approver.request(`${family}.approval.resolve`, { id, decision: "deny" });
    expect(await final).toMatchObject({ id, decision: "deny" });
  });

  test("go to the first answer, and refuse later ones and words that are none", async () => {
    const { id, final } = await ask(family, question);
    const resolve = (decision: unknown) => approver.request(`${family}.approval.resolve`, { id, decision });
    await expect(resolve("yes")).rejects.toMatchObject(invalid({ message: "invalid decision" }));
    await expect(resolve("allow-always")).rejects.toMatchObject(invalid({ message: "invalid decision" }));
    await resolve("deny");
    const late = invalid({ message: "approval already resolved", details: { reason: "APPROVAL_ALREADY_RESOLVED" } });
    await expect(resolve("allow-once")).rejects.toMatchObject(late);
    expect(await final).toMatchObject({ decision: "deny" });
    await expect(approver.request(`${family}.approval.resolve`, { id: "nobody", decision: "deny" })).rejects.toMatchObject(notFound);
  });

  test("end with no decision when their time is over, and approvers hear of a no by nobody", async () => {
    const { id, final } = await ask(family, { ...question, timeoutMs: 5_000 });
    await clock.advance(5_000);
    expect(await final).toMatchObject({ id, decision: null, terminalReason: "expired" });
    expect(await approver.event(`${family}.approval.resolved`)).toMatchObject({ id, decision: "deny", resolvedBy: null });
    await expect(approver.request(`${family}.approval.resolve`, { id, decision: "allow-once" })).rejects.toMatchObject(notFound);
  });

  test("are waited for by others, 15 s beyond the end", async () => {
    const { id } = await ask(family, question);
    const waiting = approver.request(`${family}.approval.waitDecision`, { id });
    await approver.request(`${family}.approval.resolve`, { id, decision: "allow-once" });
    expect(await waiting).toMatchObject({ id, decision: "allow-once" });
    expect(await asker.request(`${family}.approval.waitDecision`, { id })).toEqual(await waiting);
    expect(await asker.request(`${family}.approval.get`, { id })).toMatchObject({
      id,
      decision: "allow-once",
      resolvedBy: "gateway-client",
    });
    await clock.advance(15_000);
    for (const verb of ["waitDecision", "get"]) {
      await expect(asker.request(`${family}.approval.${verb}`, { id })).rejects.toMatchObject(notFound);
    }
  });

  test("that are open are listed for whoever connects later, and no others", async () => {
    const first = await ask(family, question);
    const second = await ask(family, question);
    await approver.request(`${family}.approval.resolve`, { id: first.id, decision: "deny" });
    const late = await connect(["operator.approvals"]);
    const open = await late.request<ApprovalRecord[]>(`${family}.approval.list`);
    expect(open).toEqual([await late.request(`${family}.approval.get`, { id: second.id })]);
    expect(open[0]).toMatchObject({ approvalKind: family, id: second.id, request: question });
    const other = family === "exec" ? "plugin" : "exec";
    expect(await late.request(`${other}.approval.list`)).toEqual([]);
    await expect(late.request(`${other}.approval.get`, { id: second.id })).rejects.toMatchObject(notFound);
  });

  test("end at once when nobody is there who shows such questions", async () => {
    await approver.close();
    const other = await connect(["operator.approvals"], [family === "exec" ? "plugin-approvals" : "exec-approvals"]);
    const reader = await connect(["operator.read"], ["approvals"]);
    expect(await asker.request(`${family}.approval.request`, question)).toMatchObject({ decision: null, terminalReason: "no-route" });
    await other.event(`${family}.approval.resolved`);
    expect(reader.events.filter(({ event }) => event.includes("approval"))).toEqual([]);

    await connect(["operator.approvals"], [`${family}-approvals`]);
    await ask(family, question);
    expect(await asker.request(`${family}.approval.list`)).toHaveLength(1);
  });

  test("outlive the socket that asked", async () => {
    const { id, final } = await ask(family, question);
    final.catch(() => undefined);
    await asker.close();
    await approver.request(`${family}.approval.resolve`, { id, decision: "allow-once" });
    expect(await approver.request(`${family}.approval.waitDecision`, { id })).toMatchObject({ decision: "allow-once" });
  });
});

test.each([
  "exec.approval.request",
  "exec.approval.get",
  "exec.approval.list",
  "exec.approval.waitDecision",
  "exec.approval.resolve",
  "plugin.approval.request",
  "plugin.approval.get",
  "plugin.approval.list",
  "plugin.approval.waitDecision",
  "plugin.approval.resolve",
])("%s needs the scope operator.approvals, which writing does not give and administrators have", async (method) => {
  const writer = await connect(["operator.write"]);
  const refusal = { code: "FORBIDDEN", details: { code: "MISSING_SCOPE", missingScope: "operator.approvals" } };
  await expect(writer.request(method)).rejects.toMatchObject(refusal);
  const answer = await gw.rpc(method, {}).catch((error: { code: string }) => error.code);
  expect(answer).not.toBe("FORBIDDEN");
});

test("who has as many open questions as one may have gets no more by connecting again", async () => {
  for (let i = 0; i < MAX_OPEN_EACH; i++) await ask("exec", { command: `ls ${i}` });
  const again = await connect(["operator.approvals"]);
  await expect(again.request("exec.approval.request", { command: "ls" })).rejects.toMatchObject({ details: { code: "BUSY" } });
});

describe("a command", () => {
  test("keeps the id of its asker, who gets it once", async () => {
    const { id } = await ask("exec", { command: "ls", id: "run-7" });
    expect(id).toBe("run-7");
    const again = asker.request("exec.approval.request", { command: "ls", id: "run-7" });
    await expect(again).rejects.toMatchObject(invalid({ message: expect.stringContaining("already in use") }));
  });

  test("asked about because no list knows it may be allowed for always", async () => {
    const { id, final } = await ask("exec", { commandArgv: ["git", "push"], ask: "on-miss" });
    expect(await approver.event("exec.approval.requested")).toMatchObject({ request: { command: "git push" } });
    await approver.request("exec.approval.resolve", { id, decision: "allow-always" });
    expect(await final).toMatchObject({ decision: "allow-always" });
  });

  test("is not in the log", async () => {
    const { id } = await ask("exec", { command: "export KEY=hunter2hunter2", cwd: "/srv/hunter2" });
    await approver.request("exec.approval.resolve", { id, decision: "deny" });
    const lines = gw.logs.filter((line) => JSON.stringify(line).includes(id));
    expect(lines.length).toBeGreaterThan(1);
    expect(JSON.stringify(gw.logs)).not.toContain("hunter2");
  });
});

test.each<[string, string, JsonObject, boolean]>([
  ["no command at all", "exec", {}, false],
  ["an empty command", "exec", { command: "" }, false],
  ["32,768 characters of command", "exec", { command: "x".repeat(32_768) }, true],
  ["one more", "exec", { command: "x".repeat(32_769) }, false],
  ["32,769 characters of arguments", "exec", { commandArgv: ["x".repeat(32_768), "y"] }, false],
  ["an id of the other family", "exec", { command: "ls", id: "plugin:x" }, false],
  ["24 h", "exec", { command: "ls", timeoutMs: 86_400_000 }, true],
  ["more than 24 h", "exec", { command: "ls", timeoutMs: 86_400_001 }, false],
  ["a stray key", "exec", { command: "ls", zzz: 1 }, false],
  ["80 characters of title and 512 of description", "plugin", { title: "t".repeat(80), description: "d".repeat(512) }, true],
  ["81 characters of title", "plugin", { title: "t".repeat(81), description: "d" }, false],
  ["513 characters of description", "plugin", { title: "t", description: "d".repeat(513) }, false],
  ["600 s", "plugin", { title: "t", description: "d", timeoutMs: 600_000 }, true],
  ["more than 600 s", "plugin", { title: "t", description: "d", timeoutMs: 600_001 }, false],
  ["an unknown severity", "plugin", { title: "t", description: "d", severity: "fatal" }, false],
  ["an unknown decision to offer", "plugin", { title: "t", description: "d", allowedDecisions: ["maybe"] }, false],
])("a request with %s (%s) is taken or refused", async (_name, family, params, taken) => {
  const message = expect.stringContaining(`invalid ${family}.approval.request params`);
  if (taken) expect((await ask(family, params)).accepted).toMatchObject({ status: "accepted" });
  else await expect(asker.request(`${family}.approval.request`, params)).rejects.toMatchObject(invalid({ message }));
});

describe("another plugin", () => {
  test("asks through the service and gets the answer", async () => {
    const approvals = gw.service("approvals@1");
    const answer = approvals.request({ kind: "plugin", request: { title: "Go on?", description: "It costs money", severity: "critical" } });
    const { id } = await approver.event("plugin.approval.requested");
    await approver.request("plugin.approval.resolve", { id, decision: "allow-once" });
    expect(await answer).toMatchObject({ id, decision: "allow-once" });
  });

  test("that gives up ends its question", async () => {
    const gone = new AbortController();
    const answer = gw.service("approvals@1").request({ kind: "exec", request: { command: "ls" } }, { signal: gone.signal });
    await approver.event("exec.approval.requested");
    gone.abort(new Error("the run was stopped"));
    await expect(answer).rejects.toThrow("the run was stopped");
    expect(await approver.event("exec.approval.resolved")).toMatchObject({ decision: "deny", resolvedBy: null });
    expect(await approver.request("exec.approval.list")).toEqual([]);
  });

  test("is held to the same limits as a client", async () => {
    const question = { kind: "plugin", request: { title: "t".repeat(81), description: "d" } } as const;
    await expect(gw.service("approvals@1").request(question)).rejects.toMatchObject({ code: "invalid-params" });
  });
});

test("what is open when the gateway stops ends without a decision, and work that waits for it goes on at once", async () => {
  const own = await createTestGateway({ plugins: ["approvals"], config: { gateway: { shutdown: { drainMs: 600_000 } } } });
  await own.ws({ scopes: ["operator.approvals"], caps: ["approvals"] });
  const held = own.service("gateway@1").hold("a tool that waits for an answer");
  const answer = own.service("approvals@1").request({ kind: "exec", request: { command: "ls" } });
  const stop = own.gateway.close("test over");
  expect(await answer).toMatchObject({ decision: null, terminalReason: "stopping" });
  await held.dispose();
  await stop;
  await own.close();
});
