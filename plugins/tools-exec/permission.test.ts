import type { ApprovalQuestion, Approvals } from "svc/sdk";
import { expect, test } from "vitest";
import { type Command, permit } from "./permission.ts";

const place: Command = { cwd: "/w", agentId: "main", sessionKey: "agent:main:main", origin: "operator" };

/** Asks about a command, answers "always", and returns the question with what was remembered. */
async function asked(command: Partial<Command>, { mode = "ask", isStored = false }: { mode?: "ask" | "full"; isStored?: boolean } = {}) {
  const questions: ApprovalQuestion[] = [];
  const kept: Array<readonly string[]> = [];
  const desk = {
    async request(question: ApprovalQuestion) {
      questions.push(question);
      await question.keep?.();
      return { decision: "allow-always" };
    },
  } as unknown as Approvals;
  await permit({ ...place, ...command }, AbortSignal.timeout(10_000), {
    config: { mode, allow: [], approvalSeconds: 60 },
    allowed: { has: async () => isStored, add: async (_, argv) => void kept.push(argv) },
    approvals: () => desk,
  });
  return { request: questions[0]?.request, kept };
}

test("a command is remembered by its words where they say all of what runs", async () => {
  expect((await asked({ argv: ["git", "status"] })).kept).toEqual([["git", "status"]]);
  expect((await asked({ argv: ["/usr/bin/make", "a*b"] })).kept).toEqual([["/usr/bin/make", "a*b"]]);
});

test.each([
  [{ argv: ["git", "*"] }],
  [{ argv: ["ls", "*", "x"] }],
  [{ argv: ["./build.sh"] }],
  [{ argv: ["bin/build"] }],
  [{ argv: ["git"], env: { A: "1" } }],
  [{ text: "ls" }],
])("%j is asked about each time", async (command) => {
  const { request, kept } = await asked(command);
  expect([request, kept]).toMatchObject([{ ask: "always" }, []]);
});

test("a relative program on a list of an earlier version is asked about, for each folder has another one", async () => {
  const isStored = true;
  expect((await asked({ argv: ["./build.sh"] }, { isStored })).request).toMatchObject({ ask: "always" });
  expect((await asked({ argv: ["/w/build.sh"] }, { isStored })).request).toBeUndefined();
  expect((await asked({ argv: ["git", "status"] }, { isStored })).request).toBeUndefined();
});

test("the value of a variable cannot pass for the command", async () => {
  const { request } = await asked({ text: "rm -r .", env: { A: "1 git status # it's" } });
  expect(request).toMatchObject({ command: "A='1 git status # it'\\''s' rm -r ." });
});

test.each([
  ["operator", 0],
  ["person", 1],
  ["anybody", 1],
] as const)("where nobody is to be asked, a run of %s puts %i questions, whatever its session is called", async (origin, count) => {
  const { request } = await asked({ argv: ["ls"], origin }, { mode: "full" });
  expect(request === undefined ? 0 : 1).toBe(count);
});
