import { expect, test } from "vitest";
import { steeringWaits } from "./join.ts";
import { LiveRuns } from "./live-runs.ts";

type Lead = Parameters<typeof steeringWaits>[0];

/** A run that answers in the chat of one person. */
const runOf = (id: string, more: object): Lead =>
  ({
    id,
    sessionKey: "agent:main:talk:direct:ada",
    sessionId: "s",
    phase: "queued",
    mode: "steer",
    job: {},
    request: { deliver: true, deliverTo: { channel: "talk", to: "ada" }, ...more },
    ...more,
  }) as unknown as Lead;

test.each([
  ["person", {}, "operator", {}, false],
  ["anybody", {}, "person", {}, false],
  ["person", {}, "person", { isOwner: true }, false],
  ["person", { isOwner: true }, "person", { isOwner: true }, true],
  ["person", {}, "person", {}, true],
  ["operator", {}, "person", { isOwner: true }, true],
  ["operator", {}, "operator", {}, true],
])("a message of %s %j joins a turn of %s %j in the same chat: %s", (origin, more, leadOrigin, leadMore, joins) => {
  const lead = runOf("lead", { origin: leadOrigin, phase: "running", ...leadMore });
  const runs = new LiveRuns();
  for (const run of [lead, runOf("next", { origin, ...more })]) runs.set(run.id, run);

  expect(steeringWaits(lead, { runs } as Parameters<typeof steeringWaits>[1])).toBe(joins);
});
