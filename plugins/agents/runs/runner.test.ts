import { definePlugin, type PluginContext } from "svc/sdk";
import { createTestGateway, type FakeModel, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgents } from "../agents.ts";
import type { Runner } from "./runner.ts";

/** The runner of a real gateway, asked directly. */
let gw: TestGateway;
let runner: Runner;
let model: FakeModel;
let hold: () => { dispose(): void };

beforeEach(async () => {
  model = fakeModel(["hello"]);
  hold = () => ({ dispose: () => undefined });
  const definition = definePlugin({ id: "runs", version: "1.0.0", svc: { api: "*" }, setup });
  const { id, version, svc } = definition;
  const events = ["agent", "chat", "heartbeat", "session.message", "session.tool", "sessions.changed"];
  const manifest = { id, version, svc, requires: ["store@2", "leases@1"], contributes: { events } };
  gw = await createTestGateway({
    plugins: ["store", { definition, manifest }],
    config: { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } } },
    models: [model],
  });
});
afterEach(() => gw.close());

function setup(ctx: PluginContext) {
  const gateway = Object.assign(Object.create(ctx.service("gateway@1")), { hold: () => hold() });
  const service = (name: string) => (name === "gateway@1" ? gateway : ctx.service(name as "gateway@1"));
  const agents = createAgents(Object.assign(Object.create(ctx), { service }));
  runner = agents.runner;
  return agents.life;
}

const request = {
  ...{ runId: "one", message: "hello", sessionKey: "agent:main:main", trigger: "user" as const },
  actor: { kind: "internal" as const, scopes: [] },
};

test("a run whose caller cannot be told of its acceptance runs all the same, and its session is free afterwards", async () => {
  const started = await runner.start(request, {
    accepted: () => {
      throw new Error("nobody is there");
    },
  });
  if (started.state === "finished") throw new Error("it is not new");

  expect(await started.run.done).toMatchObject({ status: "ok" });
  expect(await gw.service("store@2").runs.get("one")).toMatchObject({ state: "ok" });
  expect(gw.logs).toContainEqual(expect.objectContaining({ message: "run one: its caller could not be told that it is accepted" }));
});

test("a run that the gateway cannot be held for runs all the same", async () => {
  hold = () => {
    throw new Error("no hold");
  };
  const started = await runner.start(request);
  if (started.state === "finished") throw new Error("it is not new");

  expect(await started.run.done).toMatchObject({ status: "ok" });
});
