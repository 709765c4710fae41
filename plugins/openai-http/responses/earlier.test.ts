import { randomUUID } from "node:crypto";
import type { PluginContext } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { EarlierResponses } from "./earlier.ts";

const session = { sessionKey: "agent:main:x", sessionId: "s1" };
const owner = { caller: "secret", agentId: "main", headerKey: null };
const found = { sessionKey: session.sessionKey, given: [] };
const responseId = () => `resp_${randomUUID()}`;

let now: number;
let rows: Map<string, unknown>;
let current: string;
let outcome: object;
let forgotten: string[];
beforeEach(() => {
  now = 1_000_000;
  rows = new Map();
  current = "s1";
  outcome = { texts: ["said", "more"] };
  forgotten = [];
});

/** The plugin as a start of the gateway makes it, on the rows of the one before. */
function start(): EarlierResponses {
  const kv = {
    get: async (key: string) => rows.get(key),
    set: async (key: string, value: unknown) => void rows.set(key, value),
    delete: async (key: string) => void rows.delete(key),
    list: async () => [...rows].map(([key, value]) => ({ key, value })),
  };
  const store = {
    sessions: { get: async () => ({ sessionId: current }) },
    runs: { get: async () => ({ outcome }) },
    messages: {
      page: async () => [
        { role: "assistant", runId: "other", content: [{ type: "text", text: "not this" }] },
        { role: "user", runId: [...rows.keys()][0]?.slice("response:".length), content: [{ type: "text", text: "asked" }] },
        {
          role: "assistant",
          runId: [...rows.keys()][0]?.slice("response:".length),
          content: [{ type: "text", text: "from the transcript" }],
        },
      ],
    },
  };
  const agents = { forget: async ({ runId }: { runId: string }) => void forgotten.push(runId) };
  const logger = { warn: () => undefined, debug: () => undefined };
  const ctx = {
    kv,
    logger,
    clock: { now: () => now, monotonic: () => now },
    service: (name: string) => (name === "agents@1" ? agents : store),
  };
  return new EarlierResponses(ctx as unknown as PluginContext);
}

describe("a response", () => {
  test("is continued by its owner for 30 minutes, also after a restart", async () => {
    const id = responseId();
    await start().record(id, session, owner, []);
    now += 30 * 60_000 - 1;

    expect(await start().sessionOf(id, owner)).toEqual(found);
    expect(await start().textOf(id.replace("resp_", "msg_"), owner)).toBe("said\n\nmore");
    now += 1;
    await expect(start().sessionOf(id, owner)).rejects.toMatchObject({ code: "v1-previous-response-not-found" });
    expect(await start().textOf(id.replace("resp_", "msg_"), owner)).toBeUndefined();
  });

  test("whose run has no text is read in the transcript", async () => {
    const id = responseId();
    outcome = { isRepeatable: false };
    await start().record(id, session, owner, []);
    expect(await start().textOf(id.replace("resp_", "msg_"), owner)).toBe("from the transcript");
  });

  test.each([
    ["another credential", { caller: "other" }],
    ["another agent", { agentId: "work" }],
    ["another session key", { headerKey: "x" }],
  ])("is not found with %s", async (_name, change) => {
    const id = responseId();
    await start().record(id, session, owner, []);

    await expect(start().sessionOf(id, { ...owner, ...change })).rejects.toMatchObject({ code: "v1-previous-response-not-found" });
  });

  test("is not found when its session has begun anew, or by an id that is none", async () => {
    const id = responseId();
    await start().record(id, session, owner, []);
    current = "s2";

    for (const asked of [id, "resp_1", "", `resp_${"x".repeat(10_000)}`]) {
      await expect(start().sessionOf(asked, owner)).rejects.toMatchObject({ code: "v1-previous-response-not-found" });
    }
  });

  test("goes when 500 newer ones are there; credentials are in none of them", async () => {
    const ids = Array.from({ length: 501 }, responseId);
    for (const id of ids.slice(0, 250)) await start().record(id, session, owner, []);
    const earlier = start();
    for (const id of ids.slice(250)) {
      now += 1;
      await earlier.record(id, session, owner, []);
    }

    await eventually(() => expect(forgotten).toEqual([ids[0]]));
    expect(rows.size).toBe(500);
    expect(JSON.stringify([...rows])).not.toContain(owner.caller);
    expect(await earlier.sessionOf(ids[500] as string, owner)).toEqual(found);
    now += 30 * 60_000;
    for (let i = 0; i < 26; i++) await earlier.record(responseId(), session, owner, []);
    await eventually(() => expect(rows.size).toBe(26));
  });

  test("with a long history that was not stored is not found after a restart", async () => {
    const id = responseId();
    const given = [{ role: "user" as const, content: [{ type: "text" as const, text: "long" }] }];
    const earlier = start();
    await earlier.record(id, session, owner, given);

    expect(await earlier.sessionOf(id, owner)).toEqual({ ...found, given });
    expect(earlier.givenOf(session.sessionKey)).toEqual(given);
    const later = start();
    await later.record(id, session, owner);
    await expect(later.sessionOf(id, owner)).rejects.toMatchObject({ code: "v1-previous-response-not-found" });
  });

  test("is renewed by a repeat of its request, which makes no row of its own", async () => {
    const [id, other] = [responseId(), responseId()];
    const earlier = start();
    await earlier.record(id, session, owner, []);
    now += 29 * 60_000;
    for (const one of [id, other]) await earlier.record(one, session, owner);
    now += 29 * 60_000;

    expect(await earlier.sessionOf(id, owner)).toEqual(found);
    await expect(earlier.sessionOf(other, owner)).rejects.toMatchObject({ code: "v1-previous-response-not-found" });
  });
});
