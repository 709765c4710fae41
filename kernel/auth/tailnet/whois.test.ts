import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeTailscale, fakeTailscale } from "../../../test/fakes/tailscale.ts";
import { createWhois } from "./whois.ts";

const ada = "100.101.102.103";
let folder: string;
let tailscale: FakeTailscale;
let now = 0;
let problems: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-whois-"));
  tailscale = await fakeTailscale(folder, { people: { [ada]: "ada@example.com" } });
  now = 0;
  problems = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const whois = (env: Record<string, string> = tailscale.env) =>
  createWhois({ env: { ...env, SVC_GATEWAY_TOKEN: "t" }, now: () => now, onProblem: (text) => problems.push(text) });
const asked = async () => (await tailscale.runs()).length;

test("an answer is kept for half a minute, and callers at one time share it", async () => {
  const who = whois();
  expect(await Promise.all([who(ada), who(ada)])).toEqual(["ada@example.com", "ada@example.com"]);
  now = 29_000;
  await who(ada);
  expect(await asked()).toBe(1);
  now = 31_000;
  await tailscale.set({});
  expect(await who(ada)).toBeUndefined();
  expect((await tailscale.runs()).map(({ leaked }) => leaked)).toEqual([[], []]);
});

test("of a storm of addresses only a few are asked for at a time", async () => {
  const who = whois();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => who(`100.64.0.${i}`)));
  expect(answers).toEqual(Array(20).fill(undefined));
  expect(await asked()).toBe(4);
});

test("a machine without the program knows nobody, and says so once", async () => {
  const who = whois({ PATH: "/nowhere" });
  expect(await who(ada)).toBeUndefined();
  expect(await who("100.64.0.1")).toBeUndefined();
  expect(problems).toEqual(["tailscale whois could not be started (ENOENT)"]);
});
