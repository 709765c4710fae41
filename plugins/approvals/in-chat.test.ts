import type { ApprovalOutcome } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTalkPlatform } from "../../test/fixtures/talk-platform.ts";

const platform = createTalkPlatform();
const bob = { peer: { id: "@bob" }, sender: { id: "@bob", name: "Bob" } };
let gw: TestGateway;

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", "approvals", "audit", platform.plugin],
    models: [fakeModel(Array.from({ length: 20 }, () => "hello"))],
    config: {
      commands: { ownerAllowFrom: ["talk:@ada"] },
      session: { dmScope: "per-channel-peer" },
      channels: { talk: { token: "t", dmPolicy: "open", allowFrom: ["*"] } },
    } as never,
  });
  await eventually(() => platform.running.size === 1);
  await platform.say("hello");
  await platform.say("hello", bob);
  await eventually(() => platform.sent.length === 2);
});
afterAll(() => gw?.close());

const lastTo = (to: string) => platform.sent.filter((message) => message.to === to).at(-1)?.text ?? "";
const heard = (to: string, part: string) =>
  eventually(() => {
    expect(lastTo(to)).toContain(part);
    return true;
  });
function asked(peer: string): Promise<ApprovalOutcome> {
  const request = {
    commandArgv: ["git", "push"],
    cwd: "/work",
    agentId: "main",
    sessionKey: `agent:main:talk:direct:${peer}`,
    ask: "on-miss" as const,
  };
  return gw.service("approvals@1").request({ kind: "exec", request });
}

/** Taps of the hook `approval.resolved`: the audit log is one. */
test("an owner is asked in the chat that it is about, and answers there", async () => {
  const answer = asked("@ada");
  await heard("@ada", "git push");
  const id = /\/approve (\w{6}) always/.exec(lastTo("@ada"))?.[1];
  await platform.say("/approve");
  await heard("@ada", `${id}: git push`);
  await platform.say(`/approve ${id} perhaps`);
  await heard("@ada", "Expected /approve <id> once, always or deny");
  await platform.say(`/approve ${id} always`, bob);
  await platform.say(`/approve ${id} always`);
  expect((await answer).decision).toBe("allow-always");
  await heard("@ada", "Allowed for good.");
  await platform.say(`/approve ${id} deny`);
  await heard("@ada", `There is no open question ${id}`);
  expect(lastTo("@bob")).toBe("hello");

  const entries = await eventually(async () => {
    const listed = await gw.rpc<{ entries: object[] }>("audit.list", { action: "approval.resolved" });
    return listed.entries.length > 0 && listed.entries;
  });
  expect(entries).toMatchObject([
    { actor: { kind: "operator", id: "talk:@ada" }, target: "exec", details: { decision: "allow-always", agentId: "main" } },
  ]);
});

test("an owner is asked in a thread of their direct conversation, and not in one of a group", async () => {
  await platform.say("hello", { threadId: "t1" });
  await eventually(() => platform.sent.some(({ threadId }) => threadId === "t1"));
  const answer = asked("@ada:thread:t1");
  await heard("@ada", "git push");
  expect(platform.sent.at(-1)).toMatchObject({ to: "@ada", threadId: "t1" });
  await platform.say(`/approve ${/\/approve (\w{6}) deny/.exec(lastTo("@ada"))?.[1]} deny`, { threadId: "t1" });
  expect((await answer).decision).toBe("deny");

  const request = {
    commandArgv: ["git", "push"],
    agentId: "main",
    sessionKey: "agent:main:talk:group:g1:thread:t1",
    ask: "on-miss" as const,
  };
  expect(await gw.service("approvals@1").request({ kind: "exec", request })).toMatchObject({ terminalReason: "no-route" });
});

test("somebody else's chat is not asked: without a client there is nobody", async () => {
  expect(await asked("@bob")).toMatchObject({ decision: null, terminalReason: "no-route" });
  expect(lastTo("@bob")).toBe("hello");
});

test("/help names the command, and a client needs the scope of approvals for it", async () => {
  await platform.say("/help");
  await heard("@ada", "/approve <id> once, always or deny");
  const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
  const say = { sessionKey: "main", message: "/approve", idempotencyKey: "k1" };
  await expect(writer.request("chat.send", say)).rejects.toThrow("operator.approvals");
  const approver = await gw.client({ scopes: ["operator.read", "operator.write", "operator.approvals"] });
  expect(await approver.request("chat.send", say)).toMatchObject({ status: "ok" });
});
