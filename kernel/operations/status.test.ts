import { expect, test } from "vitest";
import { toStatus } from "./status.ts";

const path = "/var/svc/state.sqlite";
const snapshot = {
  health: {
    ok: true,
    phase: "ready",
    uptimeMs: 5,
    agents: [{ agentId: "main", sessions: { path, count: 2 } }],
    sessions: { path, count: 2, recent: [{ key: "agent:main:main", updatedAt: 1, age: 4 }] },
    memory: { rssBytes: 1, heapUsedBytes: 1 },
    eventLoop: {},
  },
  status: {
    heartbeat: { defaultAgentId: "main", agents: [] },
    queuedSystemEvents: ["one"],
    sessions: { defaults: { model: "m" }, byAgent: [{ agentId: "main", path, count: 2, recent: [] }] },
  },
};
const of = (isAdmin: boolean, from = snapshot) => toStatus({ version: "1.2.3", snapshot: from, isAdmin, pid: 77 });

test("status joins health with the parts that it alone shows", () => {
  expect(of(true)).toEqual({
    runtimeVersion: "1.2.3",
    ok: true,
    phase: "ready",
    uptimeMs: 5,
    agents: snapshot.health.agents,
    channelSummary: [],
    heartbeat: { defaultAgentId: "main", agents: [] },
    queuedSystemEvents: ["one"],
    sessions: { ...snapshot.health.sessions, ...snapshot.status.sessions },
    pid: 77,
    processMemory: snapshot.health.memory,
  });
});

test("paths, process id and memory are for administrators", () => {
  const open = of(false);
  expect(JSON.stringify(open)).not.toContain(path);
  expect(open).not.toHaveProperty("pid");
  expect(open).not.toHaveProperty("processMemory");
  expect(open).toMatchObject({ sessions: { count: 2, byAgent: [{ agentId: "main", count: 2 }] } });
});

test("without any plugin the lists are empty", () => {
  expect(toStatus({ version: "1", snapshot: { health: { ok: true }, status: {} }, isAdmin: false, pid: 1 })).toEqual({
    runtimeVersion: "1",
    ok: true,
    channelSummary: [],
    queuedSystemEvents: [],
    sessions: { count: 0, recent: [], byAgent: [] },
  });
});

test("figures of scheduled jobs are repeated", () => {
  const cron = { enabled: true, jobs: 1, running: 0 };
  expect(of(false, { ...snapshot, health: { ...snapshot.health, cron } as never })).toMatchObject({ cron });
});
