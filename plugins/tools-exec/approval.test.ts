import type { JsonObject, ModelRequest } from "svc/sdk";
import { createTestGateway, eventually, type FakeTurn, fakeModel, type TestGateway, type TestSocket } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let gw: TestGateway;
let approver: TestSocket;
/** Words that the model runs with its next turn. */
let argv: string[] = [];
const results: string[] = [];
const answered = new Set<unknown>();

beforeAll(async () => {
  const turn = ({ messages }: ModelRequest): FakeTurn => {
    const last = messages.at(-1);
    if (last?.role !== "tool") return { toolCalls: [{ name: "exec", args: { argv } }] };
    results.push(last.text);
    return "done";
  };
  const model = fakeModel(Array.from({ length: 40 }, () => turn));
  gw = await createTestGateway({
    plugins: ["store", "agents", "approvals", "audit", "tools-exec"],
    models: [model],
    config: { plugins: { entries: { "tools-exec": { config: { mode: "ask", allow: ["echo listed *"], sandbox: "off" } } } } },
  });
  approver = await gw.ws({ scopes: ["operator.approvals", "operator.admin"], caps: ["approvals"] });
});
afterAll(() => gw?.close());

async function told(words: string[], { sessionKey = "main", answer }: { sessionKey?: string; answer?: string } = {}): Promise<string> {
  argv = words;
  const run = await gw
    .service("agents@1")
    .run({ message: "go", trigger: "user", actor: { kind: "plugin" }, agentId: "main", sessionKey } as never);
  if (answer !== undefined) {
    const { id, request } = await approver.event("exec.approval.requested", (asked) => !answered.has(asked.id));
    answered.add(id);
    expect(request).toMatchObject({ commandArgv: words, agentId: "main" });
    await approver.request("exec.approval.resolve", { id, decision: answer });
  }
  await run.done;
  return results.at(-1) ?? "";
}

test("a command runs once a person has allowed it, and not when denied", async () => {
  expect(await told(["echo", "one"], { answer: "allow-once" })).toBe("one\n[exit code 0]");
  expect(await told(["echo", "one"], { answer: "deny" })).toContain("a person denied it");
});

test("one that was allowed for good, or that the operator listed, is not asked about again", async () => {
  expect(await told(["echo", "always"], { answer: "allow-always" })).toBe("always\n[exit code 0]");
  expect(await told(["echo", "always"])).toBe("always\n[exit code 0]");
  expect(await told(["echo", "listed", "by", "config"])).toBe("listed by config\n[exit code 0]");
  const { file, hash } = await approver.request<{ file: JsonObject; hash: string }>("exec.approvals.get", {});
  expect(file).toEqual({ agents: { main: { allow: [["echo", "always"]] } } });

  await approver.request("exec.approvals.set", { file: { agents: {} }, baseHash: hash });
  await expect(approver.request("exec.approvals.set", { file, baseHash: hash })).rejects.toThrow("changed since it was read");
  expect(await told(["echo", "always"], { answer: "deny" })).toContain("denied");

  const relative = { agents: { main: { allow: [["bin/run"]] } } };
  const { hash: baseHash } = await approver.request<{ hash: string }>("exec.approvals.get", {});
  await expect(approver.request("exec.approvals.set", { file: relative, baseHash })).rejects.toThrow("by its name or its whole path");
  const { file: kept } = await approver.request<{ file: JsonObject }>("exec.approvals.get", {});
  expect(kept).toEqual({ agents: {} });
});

test("every question and its answer is in the audit log", async () => {
  await eventually(async () => {
    const { entries } = await gw.rpc<{ entries: Array<{ action: string; details?: JsonObject }> }>("audit.list", { limit: 100 });
    const decisions = entries.filter(({ action }) => action === "exec.approval.resolve").map(({ details }) => details?.decision);
    expect(decisions.sort()).toEqual(["allow-always", "allow-once", "deny", "deny"]);
    return true;
  });
});

test("where nobody can be asked the command is refused at once, and the model reads why", async () => {
  await approver.close();
  expect(await told(["echo", "nobody"])).toContain("the command was not run: no connected client could answer");
});
