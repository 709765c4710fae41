import type { SessionRow } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { type BranchNode, branchFrom, sharedPoints } from "./branches.ts";

let now = 0;
const root: BranchNode = { key: "R", sessionId: "R", updatedAt: 1, path: [] };

/** A fork whose first own message stands where the other's did. */
function forkOf(source: BranchNode, key: string, seq: number, at = seq): BranchNode {
  now += 1;
  const branch = source.path.length > 0 ? { root: "R", path: [...source.path] } : undefined;
  const made = branchFrom({ sessionId: source.sessionId, ...(branch ? { branch } : {}) } as SessionRow, seq, { at, ts: now });
  expect(made.root).toBe("R");
  return { key, sessionId: key, updatedAt: now + 1, path: made.path };
}

/** `seq: A [B] C`: the branches of a message by the sessions that are opened, its own in brackets. */
const told = (session: BranchNode, nodes: BranchNode[]) =>
  sharedPoints(session, nodes).map(
    ({ seq, current, branches }) => `${seq}: ${branches.map(({ key }, i) => (i === current ? `[${key}]` : key)).join(" ")}`,
  );

describe("branches of a message stand side by side", () => {
  test("in each of their sessions, the oldest first", () => {
    const [a, b] = [forkOf(root, "A", 5), forkOf(root, "B", 5)];
    const all = [b, root, a];
    expect(told(root, all)).toEqual(["5: [R] A B"]);
    expect(told(a, all)).toEqual(["5: R [A] B"]);
    expect(told(b, all)).toEqual(["5: R A [B]"]);
  });

  test("also when the edited one is edited, and when what was before is", () => {
    const a = forkOf(root, "A", 5);
    const [again, earlier] = [forkOf(a, "B", 5), forkOf(a, "C", 3)];
    const all = [root, a, again, earlier];
    expect(told(again, all)).toEqual(["3: [B] C", "5: R A [B]"]);
    expect(told(earlier, all)).toEqual(["3: B [C]"]);
    expect(told(root, all)).toEqual(["3: [R] C", "5: [R] A B"]);
  });

  test("and each point of a long way has its own", () => {
    const a = forkOf(root, "A", 3);
    const b = forkOf(a, "B", 7);
    const all = [root, a, b];
    expect(told(b, all)).toEqual(["3: R [B]", "7: A [B]"]);
    expect(told(a, all)).toEqual(["3: R [A]", "7: [A] B"]);
    // Where a branch has branches, the one that was used last is opened.
    expect(told(root, all)).toEqual(["3: [R] B"]);
  });

  test("where answers to earlier messages came behind the edited one", () => {
    const a = forkOf(root, "A", 4, 6);
    const b = forkOf(a, "B", 6, 6);
    const all = [root, a, b];
    expect(told(root, all)).toEqual(["4: [R] A B"]);
    expect(told(b, all)).toEqual(["6: R A [B]"]);
    expect(sharedPoints(b, all)[0]?.branches.map(({ seq }) => seq)).toEqual([4, 6, 6]);
  });
});

describe("when a session is deleted", () => {
  const a = forkOf(root, "A", 3);
  const b = forkOf(a, "B", 7);

  test("its branch stays as long as another session goes on with it", () => {
    expect(told(root, [root, b])).toEqual(["3: [R] B"]);
    expect(told(b, [root, b])).toEqual(["3: R [B]"]);
  });

  test("one branch alone is none", () => {
    expect(told(root, [root])).toEqual([]);
    expect(told(b, [b])).toEqual([]);
    expect(told(b, [a, b])).toEqual(["7: A [B]"]);
  });
});
