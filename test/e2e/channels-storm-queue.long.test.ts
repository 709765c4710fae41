import { readFile } from "node:fs/promises";
import { afterAll, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { needs } from "../servers/needs.ts";
import { accountsOf, ircStorm, PEOPLE, type StormUser, stormHome } from "./_channel-storm.ts";
import { gatewayIn, stopAll, stopLater } from "./_cli.ts";
import { command } from "./_command.ts";
import type { Running } from "./_process.ts";
import { backendClient } from "./_storm.ts";

const { test } = needs("ngircd");

const QUEUED = 10_000;
/** Of these wait while the account is stopped: fewer than the 1,000 at which the depth of a queue is counted no further. */
const WAITING = 900;

afterAll(stopAll);

test(`${QUEUED} messages to four people keep the order of each, in bounded memory, and leave the main thread free`, async () => {
  const platform = await ircStorm();
  stopLater(() => platform.close());
  const { id } = platform;
  const people = await Promise.all(PEOPLE.map((name) => platform.user(name)));
  stopLater(() => Promise.all(people.map((user) => user.close())));
  const home = await stormHome({ [id]: platform.config() });
  const gateway = await gatewayIn(home);
  const rowsOf = (of: Running) => accountsOf(id, of, home);
  await eventually(async () => (await rowsOf(gateway))[0]?.lifecycle === "ready", 60_000);
  const { child } = gateway;
  const client = backendClient(gateway);
  await client.connect();
  stopLater(async () => client.close());
  const flood = (from: number, count: number) =>
    client.request("echo.flood" as never, { channel: id, people: PEOPLE, from, count } as never);
  const stopped = await command(home, ["channels", "stop", id], { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
  const before = await rssOf(child.pid as number);
  let most = before;
  // The others are handed over as there is room.
  for (let from = 0; from < WAITING; from += 100) await flood(from, 100);
  expect((await rowsOf(gateway))[0]?.queueDepth).toBe(WAITING);
  const started = await command(home, ["channels", "start", id], { SVC_GATEWAY_PORT: String(gateway.port) });
  expect(started, started.stderr).toMatchObject({ code: 0 });
  for (let from = WAITING; from < QUEUED; from += 100) {
    await flood(from, 100);
    most = Math.max(most, await rssOf(child.pid as number));
  }
  const heardBy = (user: StormUser) =>
    user
      .heard()
      .flatMap((line) => /queued-(\d+)-end/.exec(line)?.[1] ?? [])
      .map(Number);
  await eventually(() => people.reduce((sum, user) => sum + new Set(heardBy(user)).size, 0) === QUEUED, 1_200_000);
  const { maxMs, p999Ms } = (await client.request("echo.delay" as never, {} as never)) as { maxMs: number; p999Ms: number };
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20);
  process.stderr.write(
    `queued: ${QUEUED}, memory ${mib(before)} MiB before, ${mib(most)} MiB at most; steps of the main thread: 99.9 % within ${p999Ms} ms, the longest ${maxMs} ms\n`,
  );
  for (const [i, user] of people.entries())
    expect(heardBy(user), user.name).toEqual(Array.from({ length: QUEUED / PEOPLE.length }, (_, n) => n * PEOPLE.length + i));
  expect((await rowsOf(gateway))[0]?.queueDepth).toBe(0);
  expect(most - before).toBeLessThan(256 * 2 ** 20);
}, 1_800_000);

async function rssOf(pid: number): Promise<number> {
  const pages = Number((await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1]);
  return pages * 4_096;
}
