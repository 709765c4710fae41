import { expect, test } from "vitest";
import { modelsLine } from "./models-line.ts";

const ready = { agentId: "main", provider: "lab", model: "m", state: "ready" as const };

test("the model in force is named once for agents that have the same", () => {
  expect(modelsLine(undefined)).toBeUndefined();
  expect(modelsLine([ready, { ...ready, agentId: "work" }])).toBe("lab/m (ready)");
  expect(modelsLine([ready, { ...ready, agentId: "work", model: "n" }])).toBe("main: lab/m (ready); work: lab/n (ready)");
});

test("a model that is not ready says so; the reason stands among the issues", () => {
  expect(modelsLine([{ ...ready, state: "unreachable", reason: "http://127.0.0.1:9 does not answer (ECONNREFUSED)" }])).toBe(
    "lab/m (server does not answer)",
  );
  expect(modelsLine([{ ...ready, provider: "recall", model: "recall", state: "embedded" }])).toBe(
    "recall/recall (no language model; notes are quoted)",
  );
  expect(modelsLine([{ ...ready, state: "cooldown", reason: "slow down", until: 0 }])).toMatch(
    /^lab\/m \(rests after failures until \d\d:\d\d:\d\d\)$/,
  );
});
