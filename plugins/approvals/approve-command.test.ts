import type { ApprovalRecord, ChatCommandCall } from "svc/sdk";
import { beforeEach, expect, test } from "vitest";
import { approveCommand } from "./approve-command.ts";

let decided: string[];
let isKept: boolean;
beforeEach(() => {
  [decided, isKept] = [[], true];
});

const record = (id: string, command = "ls"): ApprovalRecord => ({
  approvalKind: id.startsWith("plugin:") ? "plugin" : "exec",
  id,
  request: { command, allowedDecisions: ["allow-once", "allow-always", "deny"] },
  createdAtMs: 0,
  expiresAtMs: 1_000,
});
const open = [record("Deploy-1"), record("Deploy-2"), record("X1"), record("plugin:ab12cd34", "a\u202eb".repeat(200))];
const say = (argument: string, sessionKey = "agent:main:talk:direct:@ada") => {
  const board = {
    list: (kind: string) => open.filter(({ approvalKind }) => approvalKind === kind),
    resolve(_: string, { id, decision }: { id: string; decision: string }) {
      decided.push(`${id} ${decision}`);
      return { isKept: Promise.resolve(isKept) };
    },
  };
  return approveCommand(board).run({ agentId: "main", sessionKey, argument, by: "talk:@ada" } as ChatCommandCall);
};

test.each([
  ["Deploy-1 once", "Deploy-1 allow-once"],
  ["deploy-2 DENY", "Deploy-2 deny"],
  ["DEPLOY-1 always", "Deploy-1 allow-always"],
  ["x1 once", "X1 allow-once"],
  ["AB12 once", "plugin:ab12cd34 allow-once"],
  ["plugin:ab12cd34 once", "plugin:ab12cd34 allow-once"],
])("/approve %s decides %s", async (argument, decision) => {
  await say(argument);
  expect(decided).toEqual([decision]);
});

test.each([
  ["deploy once", "2 open questions begin with deploy: Deploy-1, Deploy-2. Give more of the id."],
  ["ab1 once", "There is no open question ab1"],
  ["X1", "Expected /approve <id> once, always or deny"],
])("/approve %s decides nothing", async (argument, answer) => {
  expect(await say(argument)).toContain(answer);
  expect(decided).toEqual([]);
});

test("what is open is listed in a direct conversation alone, and what is cut says so", async () => {
  const lines = (await say("")).split("\n");
  expect(lines.map((line) => line.split(":")[0])).toEqual(["Deploy", "Deploy", "X1", "ab12cd"]);
  expect(lines[3]).toHaveLength("ab12cd: ".length + 200);
  expect(lines[3]).toMatch(/…$/);
  for (const key of ["agent:main:talk:group:%23team", "agent:main:talk:channel:c1", "agent:main:talk:channel:c1:thread:2"])
    expect(await say("", key)).toBe("Open questions are listed in a direct conversation only.");
});

test("who answers always hears that it could not be stored", async () => {
  expect(await say("X1 always")).toBe("Allowed for good.");
  isKept = false;
  expect(await say("X1 always")).toBe("Allowed this once: it could not be stored for good, and the log of the gateway says why.");
});
