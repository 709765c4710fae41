import { expect, test } from "vitest";
import { type SidecarEvidence, sidecarFindings } from "./doctor.ts";
import type { ManagerState } from "./manager.ts";

const state = { vectors: 12, failedCollections: [], mode: "query" } as unknown as ManagerState;
const settings = {
  agentId: "main",
  command: "engine",
  searchMode: "query",
  update: { embedIntervalMs: 60_000 },
} as SidecarEvidence["settings"];
const findings = (state: Partial<ManagerState> | undefined, { failure, ...own }: { failure?: string; searchMode?: "search" } = {}) =>
  sidecarFindings({ settings: { ...settings, ...own }, state: state as ManagerState | undefined, failure }).map(
    ({ id, path, message, fix }) => [id.replace("memory-sidecar/", ""), path, message, fix] as const,
  );

test("a sidecar that works has no finding, nor has one that is not open yet", () => {
  expect(findings(state)).toEqual([]);
  expect(findings(undefined)).toEqual([]);
});

test("an engine that could not be started is the only finding, and says who answers", () => {
  const [one, ...more] = findings({ ...state, vectors: 0, lastError: "x" }, { failure: "no program engine on the PATH" });
  expect(more).toEqual([]);
  expect(one).toEqual([
    "program",
    "memory.sidecar.command",
    'agent "main": no program engine on the PATH; the builtin engine answers',
    expect.stringContaining('memory.backend to "builtin"'),
  ]);
});

test("missing vectors count only where they are searched, with the reason of the last embed run", () => {
  const path = "memory.sidecar.searchMode";
  const of = (why: string) => [
    "vectors",
    path,
    `agent "main": mode "query" needs vectors, and there are none (${why})`,
    expect.any(String),
  ];
  expect(findings({ ...state, vectors: 0 })).toEqual([of("no embed run has ended yet")]);
  expect(findings({ ...state, vectors: 0, embedError: "no model" })).toEqual([of("no model")]);
  expect(findings({ ...state, vectors: 0 }, { searchMode: "search" })).toEqual([]);
  const never = { ...settings, update: { embedIntervalMs: undefined } } as SidecarEvidence["settings"];
  const [one] = sidecarFindings({ settings: never, state: { ...state, vectors: 0 }, failure: undefined });
  expect(one?.message).toContain("(no embed run is configured)");
});

test("a failed update and each failed collection are findings of their own", () => {
  const failedCollections = ["notes", "papers"].map((name) => ({ name, reason: "no such folder" }));
  expect(findings({ ...state, lastError: "disk is full", failedCollections })).toEqual([
    ["update", "memory.sidecar", 'agent "main": the index is not up to date: disk is full', "svc memory index --agent main"],
    ["collections", "memory.sidecar.paths", 'agent "main": collection "notes" could not be created: no such folder', expect.any(String)],
    ["collections", "memory.sidecar.paths", 'agent "main": collection "papers" could not be created: no such folder', expect.any(String)],
  ]);
});
