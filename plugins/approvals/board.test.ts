import { type ApprovalRecord, messageOf } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { type Board, createBoard, MAX_OPEN, MAX_OPEN_EACH, type Resolution } from "./board.ts";

const clock = () => fakeClock();
let time: ReturnType<typeof clock>;
let board: Board;
let asked: string[];
let ended: Resolution[];
let notKept: string[];
beforeEach(() => {
  time = clock();
  asked = [];
  ended = [];
  notKept = [];
  const events = {
    requested: ({ id }: ApprovalRecord) => void asked.push(id),
    resolved: (resolution: Resolution) => void ended.push(resolution),
    notKept: ({ id }: ApprovalRecord, error: unknown) => void notKept.push(`${id}: ${messageOf(error)}`),
  };
  board = createBoard(events, time, () => time.now());
});

const record = (id: string): ApprovalRecord => ({
  approvalKind: "exec",
  id,
  request: { command: "ls", allowedDecisions: ["allow-once", "deny"] },
  createdAtMs: time.now(),
  expiresAtMs: time.now() + 1_000,
});
const put = (id: string, asker = "someone") => board.put(record(id), { asker, timeoutMs: 1_000 });
const decide = (id: string, decision = "allow-once") => board.resolve("exec", { id, decision, by: "ann" });
const coded = (code: string) => expect.objectContaining({ code });

describe("a question", () => {
  test("is told, answered, and told to be answered", async () => {
    const { done } = put("a");
    expect(asked).toEqual(["a"]);
    decide("a");
    expect(await done).toEqual({ id: "a", decision: "allow-once", createdAtMs: time.now(), expiresAtMs: time.now() + 1_000 });
    expect(ended).toMatchObject([{ resolvedBy: "ann", outcome: { decision: "allow-once" } }]);
  });

  test("allowed for good is stored before its asker goes on, and counts once where that fails", async () => {
    const ask = (id: string, keep: () => Promise<void>) => {
      const always = { ...record(id), request: { command: "ls", allowedDecisions: ["allow-once", "allow-always", "deny"] as const } };
      return board.put(always, { asker: "someone", timeoutMs: 1_000, keep });
    };
    let stored = 0;
    const good = ask("a", async () => void stored++);
    expect(await decide("a", "allow-always").isKept).toBe(true);
    expect([(await good.done).decision, stored]).toEqual(["allow-always", 1]);

    const bad = ask("b", async () => {
      throw new Error("the disk is full");
    });
    expect(await decide("b", "allow-always").isKept).toBe(false);
    expect((await bad.done).decision).toBe("allow-once");
    expect(notKept).toEqual(["b: the disk is full"]);

    ask("c", async () => void stored++);
    expect(await decide("c", "allow-once").isKept).toBe(true);
    expect(stored).toBe(1);
  });

  test("ends with nobody's answer when its time is over, not a moment earlier", async () => {
    const { done } = put("a");
    await time.advance(999);
    expect(ended).toEqual([]);
    await time.advance(1);
    expect(await done).toMatchObject({ decision: null, terminalReason: "expired" });
    expect(ended).toMatchObject([{ resolvedBy: null }]);
  });

  test("is known for 15 s after its end, and then not", async () => {
    put("a");
    decide("a", "deny");
    await time.advance(14_999);
    expect(board.find("exec", "a").resolution?.outcome.decision).toBe("deny");
    await time.advance(1);
    expect(() => board.find("exec", "a")).toThrow(coded("approval-not-found"));
    expect(time.waiting).toEqual([]);
  });

  test("of one family is unknown to the other", () => {
    put("a");
    expect(() => board.find("plugin", "a")).toThrow(coded("approval-not-found"));
    expect(board.list("plugin")).toEqual([]);
    expect(board.list("exec").map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("an answer is refused", () => {
  test.each([
    ["in a word that is none", () => decide("a", "perhaps"), "approval-decision"],
    ["that is not offered", () => decide("a", "allow-always"), "approval-decision"],
    ["to a question nobody asked", () => decide("b"), "approval-not-found"],
  ])("%s, and the question stays", (_name, answer, code) => {
    put("a");
    expect(answer).toThrow(coded(code));
    expect(board.list("exec")).toHaveLength(1);
  });

  test("when there is one already: the first stands", async () => {
    const { done } = put("a");
    decide("a", "deny");
    expect(() => decide("a")).toThrow(coded("approval-resolved"));
    expect((await done).decision).toBe("deny");
    expect(ended).toHaveLength(1);
  });

  test("when the time was over before it", async () => {
    put("a");
    await time.advance(1_000);
    expect(() => decide("a")).toThrow(coded("approval-not-found"));
  });
});

describe("the board", () => {
  test("takes no id twice, not even one that was just answered", () => {
    put("a");
    expect(() => put("a")).toThrow(coded("approval-exists"));
    decide("a");
    expect(() => put("a")).toThrow(coded("approval-exists"));
  });

  test(`takes ${MAX_OPEN_EACH} questions of one asker, and somebody else's after that`, () => {
    for (let i = 0; i < MAX_OPEN_EACH; i++) put(`a${i}`);
    expect(() => put("more")).toThrow(coded("busy"));
    put("b", "another");
    decide("a0");
    put("again");
  });

  test(`takes ${MAX_OPEN} questions in all`, () => {
    for (let i = 0; i < MAX_OPEN; i++) put(`a${i}`, `asker-${i}`);
    expect(() => put("more", "fresh")).toThrow(coded("busy"));
  });

  test("forgets the oldest answers first, and open questions never", async () => {
    put("open", "first");
    for (let i = 0; i < 257; i++) {
      put(`a${i}`, `asker-${i}`);
      decide(`a${i}`);
    }
    expect(() => board.find("exec", "a0")).toThrow(coded("approval-not-found"));
    expect(board.find("exec", "a1").resolution).toBeDefined();
    expect(board.list("exec").map(({ id }) => id)).toEqual(["open"]);
  });

  test("closes what is open once, and leaves no timer of it", async () => {
    const { done } = put("a");
    board.closeAll("stopping");
    board.closeAll("stopping");
    expect(await done).toMatchObject({ decision: null, terminalReason: "stopping" });
    expect(ended).toHaveLength(1);
    await time.advance(15_000);
    expect(time.waiting).toEqual([]);
  });
});
