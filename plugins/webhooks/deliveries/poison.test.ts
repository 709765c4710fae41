import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "svc/sdk";
import { eventually, fakeClock } from "svc/sdk/testing";
import { expect, onTestFinished, test } from "vitest";
import { type GatedModel, gatedModel } from "../../../test/fixtures/gated-model.ts";
import { accepted, type DeliveriesGateway, deliveriesGateway, ended, holdAt } from "../../../test/fixtures/hook-deliveries.ts";

/** One life of a gateway on a state directory. */
interface Life {
  gateway: DeliveriesGateway;
  model: GatedModel;
  clock: ReturnType<typeof fakeClock>;
}

/** Nobody waits for those that count as killed. */
const config = { gateway: { shutdown: { drainMs: 0 } } };

/** The model answers when the test lets it. */
async function live(at: number, stateDir?: string): Promise<Life> {
  const model = gatedModel();
  const clock = fakeClock(at);
  const gateway = await deliveriesGateway({ models: [model], clock, config, ...(stateDir === undefined ? {} : { stateDir }) });
  onTestFinished(() => model.release());
  return { gateway, model, clock };
}

/** A kill -9 now: another process finds what is on disk at this moment. The old one goes on in its own folder, and nobody looks at it any more. */
function killed({ gateway }: Life): string {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-killed-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  for (const suffix of ["", "-wal"]) copyFileSync(join(gateway.stateDir, `state.sqlite${suffix}`), join(stateDir, `state.sqlite${suffix}`));
  return stateDir;
}

const atWork = ({ model }: Life, texts: string[]) => eventually(() => expect(model.waiting()).toEqual(texts));

test("an action that ends the process each time is found and fails alone; those beside it are neither charged nor given up", async () => {
  const start = 1_767_225_600_000;
  let life = await live(start);
  const poison = await accepted(life.gateway, { message: "poison", name: "Poison" });
  await atWork(life, ["poison"]);
  const beside = await accepted(life.gateway, { message: "beside" });
  const later = await accepted(life.gateway, { message: "later" });
  await atWork(life, ["poison", "beside"]);

  // Two were under way: nobody is charged, and they go one after the other before anything else.
  life = await live(start + 1_000, killed(life));
  await atWork(life, ["poison"]);
  expect(await life.gateway.row(poison)).toMatchObject({ state: "running", attempt: 1 });
  expect(await life.gateway.row(beside)).toMatchObject({ state: "accepted", attempt: 0, result: { suspect: 1 } });
  expect(await life.gateway.row(later)).toMatchObject({ state: "accepted", attempt: 0 });

  // It was alone: charged once, and it waits while the others run.
  life = await live(start + 2_000, killed(life));
  await atWork(life, ["beside"]);
  expect(await life.gateway.row(poison)).toMatchObject({ state: "accepted", attempt: 1, result: { suspect: 2, crashes: 1 } });
  life.model.release();
  expect(await ended(life.gateway, beside)).toMatchObject({ status: "ok" });
  await atWork(life, ["later"]);
  life.model.release();
  expect(await ended(life.gateway, later)).toMatchObject({ status: "ok" });
  await life.clock.advance(5_000);
  await atWork(life, ["poison"]);

  life = await live(start + 10_000, killed(life));
  const neighbour = await accepted(life.gateway, { message: "neighbour" });
  await atWork(life, ["neighbour"]);
  life.model.release();
  expect(await ended(life.gateway, neighbour)).toMatchObject({ status: "ok" });
  await life.clock.advance(60_000);
  await atWork(life, ["poison"]);
  expect(await life.gateway.row(poison)).toMatchObject({ attempt: 3 });

  life = await live(start + 80_000, killed(life));
  expect(await ended(life.gateway, poison)).toMatchObject({ status: "error" });
  expect(await life.gateway.row(poison)).toMatchObject({ state: "failed", attempt: 3 });
  expect(await life.gateway.said()).toEqual([
    expect.stringMatching(/^Hook Poison failed: the gateway ended each time while it ran, and nothing else did/),
  ]);
  for (const uid of [beside, later, neighbour]) expect(await life.gateway.row(uid)).toMatchObject({ state: "done", attempt: 1 });
});

test("a suspect that cannot be read keeps no other action waiting, and has its turn later", async () => {
  const start = 1_767_225_600_000;
  const first = await live(start);
  const suspect = await accepted(first.gateway, { message: "suspect" });
  await atWork(first, ["suspect"]);
  const life = await live(start + 1_000, killed(first));
  await eventually(async () => expect(await life.gateway.row(suspect)).toMatchObject({ state: "accepted", result: { crashes: 1 } }));
  const { deliveries } = life.gateway.service("store@2");
  const { get } = deliveries;
  let isRefused = false;
  deliveries.get = () => {
    deliveries.get = get;
    isRefused = true;
    return Promise.reject(new SvcError("storage-busy", { message: "too much is waiting", http: 503, rpc: "UNAVAILABLE" }));
  };

  await life.gateway.replace();
  const other = await accepted(life.gateway, { message: "other" });
  await atWork(life, ["other"]);
  life.model.release();
  expect(await ended(life.gateway, other)).toMatchObject({ status: "ok" });

  expect(isRefused).toBe(true);
  await life.clock.advance(60_000);
  await atWork(life, ["suspect"]);
  life.model.release();
  expect(await ended(life.gateway, suspect)).toMatchObject({ status: "ok" });
});

test("an action that was claimed at each of four kills, and never begun, is not given up", async () => {
  const pass = holdAt("hooks.before-run");
  let life = await live(1_000);
  const uid = await accepted(life.gateway, { message: "never begun" });
  for (let kill = 0; kill < 4; kill += 1) {
    await eventually(async () => expect(await life.gateway.row(uid)).toMatchObject({ state: "running", attempt: 1 }));
    const stateDir = killed(life);
    if (kill === 3) pass();
    life = await live(2_000 + kill, stateDir);
  }

  await atWork(life, ["never begun"]);
  life.model.release();
  expect(await ended(life.gateway, uid)).toMatchObject({ status: "ok" });
  expect(life.model.requests).toHaveLength(1);
});

test("kills before the run has begun cost nothing, however many there are", async () => {
  let life = await live(1_000);
  const person = { message: "hello", sessionKey: "busy", trigger: "user" as const, actor: { kind: "internal" as const, scopes: [] } };
  let uid = "";
  for (let kill = 0; kill < 4; kill += 1) {
    // The session is at work with something else: the action is claimed, and its run waits.
    await life.gateway.service("agents@1").run(person);
    if (kill === 0)
      uid = await accepted(life.gateway, { sessionKey: "agent:main:busy", sessionMode: "persistent", message: "from a hook" });
    await eventually(async () => expect((await life.gateway.row(uid))?.state).toBe("running"));
    await eventually(async () => expect(await life.gateway.service("store@2").runs.get(uid)).toMatchObject({ state: "queued" }));
    life = await live(2_000 + kill, killed(life));
  }

  await atWork(life, ["from a hook"]);
  expect(await life.gateway.row(uid)).toMatchObject({ state: "running", attempt: 1 });
  life.model.release();
  expect(await ended(life.gateway, uid)).toMatchObject({ status: "ok" });
});

test("the model is not called before it is on disk that the run has begun", async () => {
  const life = await live(1_000);
  const uid = await accepted(life.gateway, { message: "first" });

  await atWork(life, ["first"]);

  expect(await life.gateway.service("store@2").runs.get(uid)).toMatchObject({ state: "running", startedAt: expect.any(Number) });
  life.model.release();
  await ended(life.gateway, uid);
});
