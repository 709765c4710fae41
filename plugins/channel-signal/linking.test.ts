import type { ChannelLogin, LoginStep } from "svc/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PHONE, type SignalDaemon, startSignalDaemon } from "../../test/fakes/signal-cli.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { createSignalChannel } from "./channel.ts";

/** A daemon that is linked to somebody's phone, step by step. */

let daemon: SignalDaemon;
let channel: ReturnType<typeof createSignalChannel>;
beforeEach(async () => {
  daemon = await startSignalDaemon();
  channel = createSignalChannel(memoryKv());
});
afterEach(() => daemon.close());

const logger: ChannelLogin["logger"] = {
  ...{ trace: () => undefined, debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  child: () => logger,
};
const request = (section: object = {}, accountId = "default"): ChannelLogin => ({
  config: { channels: { signal: { port: daemon.port, ...section } } } as unknown as ChannelLogin["config"],
  accountId,
  signal: new AbortController().signal,
  logger,
});
const signIn = (asked = request()) => channel.login?.(asked) as AsyncIterable<LoginStep>;

async function all(steps: AsyncIterable<LoginStep>, onCode = (uri: string) => daemon.scan(uri)): Promise<LoginStep[]> {
  const seen: LoginStep[] = [];
  for await (const step of steps) {
    seen.push(step);
    if (step.kind === "qr") onCode(step.text);
  }
  return seen;
}

test("an account that the config does not name yet is linked by its QR code, and the command that names it is said", async () => {
  const [code, end, ...more] = await all(signIn());

  expect(code).toEqual({ kind: "qr", text: expect.stringMatching(/^sgnl:\/\/linkdevice\?uuid=/) });
  expect(end).toEqual({ kind: "done", identity: PHONE.number, note: `Now: svc config set channels.signal.account ${PHONE.number}` });
  expect(more).toEqual([]);
  expect(daemon.requests.find(({ method }) => method === "finishLink")?.params.deviceName).toMatch(/^svc on /);
});

test("a code that has run out is replaced by the next one", async () => {
  daemon.behaviour.isLinkLate = true;
  const codes: string[] = [];
  const steps = await all(signIn(), (uri) => {
    codes.push(uri);
    if (codes.length < 3) return;
    daemon.behaviour.isLinkLate = false;
    daemon.scan(uri);
  });

  expect(new Set(codes).size).toBe(3);
  expect(steps.at(-1)).toMatchObject({ kind: "done" });
});

test("an account that the daemon serves needs no code", async () => {
  const steps = await all(signIn(request({ account: "+4930111111" })));
  expect(steps).toEqual([{ kind: "done", identity: "+4930111111", note: expect.stringContaining("already") }]);
});

test("another account than the config names is said, and can be signed out again", async () => {
  const asked = request({ account: "+4930777777" });
  await expect(all(signIn(asked))).rejects.toThrow(`${PHONE.number} was linked, but channels.signal names another account`);
  expect(await channel.logout?.(asked)).toBe(true);
});

test("a daemon of one account is refused with what to do", async () => {
  daemon.behaviour.isSingle = true;
  await expect(all(signIn())).rejects.toThrow("start it without an account");
});

test("a sign-out takes a linked account off the daemon, and leaves one alone that was registered by hand", async () => {
  await all(signIn());
  expect(await channel.logout?.(request({ account: "+4930111111" }, "work"))).toBe(false);
  expect(await channel.logout?.(request())).toBe(true);

  expect(daemon.requests.filter(({ method }) => /unregister|delete/.test(method))).toEqual([
    { method: "unregister", params: { account: PHONE.number } },
    { method: "deleteLocalAccountData", params: { account: PHONE.number } },
  ]);
});

test("a sign-out whose daemon does not answer says so, and can be repeated", async () => {
  const kv = memoryKv();
  channel = createSignalChannel(kv);
  await all(signIn());
  daemon.behaviour.isStalled = true;
  await expect(createSignalChannel(kv, { answerMs: 50 }).logout?.(request())).rejects.toThrow("not answered");

  daemon.behaviour.isStalled = false;
  expect(await channel.logout?.(request())).toBe(true);
  expect(await channel.logout?.(request())).toBe(false);
});

test("a sign-out whose keys could not be deleted is repeated where it ended", async () => {
  await all(signIn());
  daemon.behaviour.isInUse = true;
  await expect(channel.logout?.(request())).rejects.toThrow("valid account");
  daemon.behaviour.isInUse = false;
  daemon.requests.length = 0;

  expect(await channel.logout?.(request())).toBe(true);
  expect(daemon.requests.map(({ method }) => method)).toEqual(["listAccounts", "deleteLocalAccountData"]);
});
