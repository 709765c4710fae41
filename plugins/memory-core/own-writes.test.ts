import { expect, test } from "vitest";
import { createOwnWrites } from "./own-writes.ts";

type After = { agentId: string; tool: string; ok: boolean };

function setup(sync: (agentId: string) => Promise<{ started: boolean; joined: boolean }>) {
  const taps: Array<(event: After) => void> = [];
  const on = (_hook: string, tap: (event: After) => void) => {
    taps.push(tap);
    return { dispose: () => undefined };
  };
  const synced: string[] = [];
  const writes = createOwnWrites({ on } as never, {
    sync(agentId) {
      synced.push(agentId);
      return sync(agentId);
    },
  });
  return { writes, synced, after: (event: After) => taps.forEach((tap) => void tap(event)) };
}
const signal = new AbortController().signal;

test("only a search after a write of the same agent brings the index up to date, once", async () => {
  const { writes, synced, after } = setup(async () => ({ started: true, joined: false }));
  after({ agentId: "main", tool: "read", ok: true });
  after({ agentId: "main", tool: "write", ok: false });
  await writes.caughtUp("main", signal);
  after({ agentId: "main", tool: "write", ok: true });
  await writes.caughtUp("other", signal);
  expect(synced).toEqual([]);
  await writes.caughtUp("main", signal);
  await writes.caughtUp("main", signal);
  expect(synced).toEqual(["main"]);
});

test("a sync that was under way is followed by another, and one that fails stops no search", async () => {
  const joining = setup(async () => ({ started: false, joined: true }));
  joining.after({ agentId: "main", tool: "edit", ok: true });
  await joining.writes.caughtUp("main", signal);
  expect(joining.synced).toEqual(["main", "main"]);
  const failing = setup(() => Promise.reject(new Error("down")));
  failing.after({ agentId: "main", tool: "exec", ok: true });
  await expect(failing.writes.caughtUp("main", signal)).resolves.toBeUndefined();
});
