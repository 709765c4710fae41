import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OutboundMessage, Receipt } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { ADA, from, type SignalDaemon, startSignalDaemon } from "../../test/fakes/signal-cli.ts";
import { channelConfig, type DrivenAccount, driveAccount } from "../../test/fixtures/driven-account.ts";
import { memoryKv } from "../../test/fixtures/memory-kv.ts";
import { inspectAccount, listAccounts, resolveAccount, type SignalAccount } from "./accounts.ts";
import { createSignalChannel } from "./channel.ts";
import { MAX_LINE_BYTES } from "./rpc-link.ts";
import { MAX_MEDIA_BYTES } from "./sending.ts";
import type { SignalTiming } from "./timing.ts";

const NUMBER = "+4930111111";

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function daemon(): Promise<SignalDaemon> {
  const started = await startSignalDaemon();
  ends.push(() => started.close());
  return started;
}

type Driven = DrivenAccount<SignalAccount> & { sendMedia(to: string, media: OutboundMessage["media"] & object): Promise<Receipt> };

function drive(port: number, times: Partial<SignalTiming> = {}): Driven {
  const channel = createSignalChannel(memoryKv(), { reconnectMs: 20, offerMs: 10, ...times });
  const account = driveAccount(channel, { port, account: NUMBER });
  ends.push(() => account.stop());
  return Object.assign(account, {
    sendMedia: (to: string, media: OutboundMessage["media"] & object) => channel.send({ uid: "m", to, media }, account.run),
  });
}

const hello = (text: string, timestamp = 1, more: object = {}) => ({
  ...from(ADA, "Ada"),
  timestamp,
  dataMessage: { timestamp, message: text, viewOnce: false, ...more },
});
const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error as Error);

test("a daemon of one account serves it without listing any, and messages of its first packet arrive", async () => {
  const signal = await daemon();
  signal.behaviour.isSingle = true;
  signal.receive(hello("early"));
  const account = drive(signal.port);

  await account.is("ready");
  await eventually(() => account.inbox.some(({ text }) => text === "early"));
  expect(signal.requests.find(({ method }) => method === "subscribeReceive")?.params).toEqual({});
});

test("messages of other accounts of the daemon are not taken", async () => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");

  const other = { envelope: hello("for somebody else"), account: "+4930222222" };
  signal.raw(`${JSON.stringify({ jsonrpc: "2.0", method: "receive", params: other })}\n`);
  signal.receive(hello("for us", 2));

  await eventually(() => account.inbox.length > 0);
  expect(account.inbox.map(({ text }) => text)).toEqual(["for us"]);
});

test.each([
  ["a line that is no JSON", "{nonsense\n", "no JSON"],
  ["a line that is no object", "7\n", "no JSON object"],
  ["a line without an end", "x".repeat(MAX_LINE_BYTES + 1), "longer than"],
])("%s ends the link, which is made again", async (_, line, reason) => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");

  signal.raw(line);

  await eventually(() => account.states.find(({ lifecycle }) => lifecycle === "recovering")?.lastError?.includes(reason));
  await account.is("ready");
});

test.each([
  ["an answer to nothing", { id: "svc-999", result: 1 }],
  ["an answer with a foreign id", { id: { a: 1 }, result: 1 }],
  ["a notification without params", { method: "receive" }],
  ["a method of another kind", { method: "callEvent", params: {} }],
])("%s changes nothing", async (_, message) => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");

  signal.raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  signal.receive(hello("still here"));

  await eventually(() => account.inbox.length > 0);
  expect(account.states.filter(({ lifecycle }) => lifecycle === "recovering")).toEqual([]);
});

test("a daemon that stops answering is given up and linked again; a message under way is not known to be sent", async () => {
  const signal = await daemon();
  const account = drive(signal.port, { pingMs: 1_000, pongMs: 1_000 });
  await account.is("ready");

  signal.behaviour.isStalled = true;
  const failed = await failure(account.send(ADA, "into the void"));
  signal.behaviour.isStalled = false;

  expect(failed).toMatchObject({ name: "Error", message: expect.stringContaining("has not answered for") });
  await account.is("ready");
  await account.send(ADA, "back again");
});

test("without a link nothing is dispatched", async () => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");
  await signal.close();
  ends.splice(0, 1);
  await account.is("recovering");

  expect((await failure(account.send(ADA, "too early")))?.name).toBe("NotDispatchedError");
});

const results = (type: string, more: object = {}) => ({ response: { results: [{ type, ...more }] } });

test.each([
  ["an unknown recipient", { code: -1, message: "The user +1 is not registered." }, { isPermanent: true }],
  ["an unregistered one", { code: -1, message: "Failed to send message", data: results("UNREGISTERED_FAILURE") }, { isPermanent: true }],
  [
    "a changed safety number",
    { code: -4, message: "untrusted" },
    { isPermanent: true, message: expect.stringContaining("signal-cli trust") },
  ],
  ["a captcha", { code: -6, message: "captcha" }, { isPermanent: true, message: expect.stringContaining("captcha") }],
  [
    "too many messages",
    { code: -5, message: "limit", data: results("RATE_LIMIT_FAILURE", { retryAfterSeconds: 7 }) },
    { isPermanent: false, retryAfterMs: 7_000 },
  ],
  [
    "an endless limit",
    { code: -5, message: "limit", data: results("RATE_LIMIT_FAILURE", { retryAfterSeconds: 1e12 }) },
    { isPermanent: false, retryAfterMs: 3_600_000 },
  ],
  ["a network that is away", { code: -1, message: "Failed", data: results("NETWORK_FAILURE") }, { isPermanent: false }],
])("%s is a refusal", async (_, failSend, expected) => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");
  signal.behaviour.failSend = failSend;

  expect(await failure(account.send(ADA, "hello"))).toMatchObject({ name: "SendRefusedError", ...expected });
});

test("an error inside the daemon leaves open whether the message was sent", async () => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");
  signal.behaviour.failSend = { code: -32_603, message: "boom\u001b[31m" };

  expect(await failure(account.send(ADA, "hello"))).toMatchObject({ name: "DaemonError", message: expect.not.stringContaining("\u001b") });
});

test("an attachment is fetched and comes with its message, in its order; one that cannot be had is named", async () => {
  const signal = await daemon();
  signal.behaviour.attachments = { "a.png": Buffer.from("picture").toString("base64") };
  const account = drive(signal.port);
  await account.is("ready");

  const png = { id: "a.png", contentType: "image/png", filename: "cat.png", size: 7 };
  signal.receive(hello("look", 1, { attachments: [png, { ...png, id: "gone" }, { ...png, id: "big", size: MAX_MEDIA_BYTES + 1 }] }));
  signal.receive(hello("seen it?", 2));

  await eventually(() => account.inbox.length === 2);
  expect(account.inbox.map(({ text }) => text)).toEqual(["look", "seen it?"]);
  const [first, gone, big] = account.inbox[0]?.media ?? [];
  expect(first).toMatchObject({ kind: "image", mime: "image/png", name: "cat.png", bytes: 7, path: expect.any(String) });
  expect([gone, big].map((one) => one?.path)).toEqual([undefined, undefined]);
  expect(account.logs.filter((line) => line.includes("an attachment was not fetched"))).toHaveLength(2);
  expect(signal.requests.filter(({ method }) => method === "getAttachment")).toHaveLength(2);
});

test("attachments of somebody whom the host does not take on are named, and not asked for", async () => {
  const signal = await daemon();
  signal.behaviour.attachments = { "a.png": Buffer.from("picture").toString("base64") };
  const account = drive(signal.port);
  account.admits = () => false;
  await account.is("ready");
  signal.receive(hello("look", 1, { attachments: [{ id: "a.png", contentType: "image/png", filename: "cat.png", size: 7 }] }));

  await eventually(() => account.inbox.length === 1);
  expect(account.inbox[0]?.media).toEqual([{ kind: "image", mime: "image/png", name: "cat.png", bytes: 7 }]);
  expect(signal.requests.some(({ method }) => method === "getAttachment")).toBe(false);
});

test("a file is sent in the line; one that is too large, or only an address, is refused", async () => {
  const signal = await daemon();
  const account = drive(signal.port);
  await account.is("ready");
  const folder = await mkdtemp(join(tmpdir(), "svc-signal-"));
  ends.push(() => rm(folder, { recursive: true }));
  const path = join(folder, "note.txt");
  await writeFile(path, "hello");
  await account.sendMedia(ADA, [{ mime: "text/plain", path, name: "a note.txt" }]);

  const sent = signal.requests.findLast(({ method }) => method === "send")?.params;
  expect(sent?.attachment).toEqual(["data:text/plain;filename=a%20note.txt;base64,aGVsbG8="]);
  await writeFile(path, Buffer.alloc(MAX_MEDIA_BYTES + 1));
  for (const media of [
    { mime: "text/plain", path },
    { mime: "text/plain", url: "https://example.com/x" },
  ])
    expect(await failure(account.sendMedia(ADA, [media]))).toMatchObject({ name: "SendRefusedError", isPermanent: true });
});

test("a probe and an audit say who the account is and what is wrong, without taking its messages", async () => {
  const signal = await daemon();
  const channel = createSignalChannel(memoryKv());
  const account = channel.config.resolve(channelConfig("signal", { port: signal.port, account: NUMBER }), "default");
  const stop = new AbortController();

  expect(await channel.probe?.(account, stop.signal)).toMatchObject({ ok: true, identity: "+4930111111 by signal-cli 0.14.1" });
  expect(await channel.audit?.(account, stop.signal)).toEqual([{ id: "address", ok: true, message: "the daemon is on this machine" }]);
  expect(signal.requests.map(({ method }) => method)).not.toContain("subscribeReceive");
  const remote = { ...account, endpoint: { host: "192.0.2.1", port: 1 } };
  stop.abort();
  expect(await channel.audit?.(remote, stop.signal)).toMatchObject([
    { id: "address", ok: false },
    { id: "daemon", ok: false },
  ]);
});

test("a section is one account, or several that inherit its daemon", () => {
  const config = channelConfig("signal", {
    socketPath: "/run/signal.sock",
    accounts: { a: { account: "+4930111111" }, b: { account: ADA, name: "B" } },
  });
  expect(listAccounts(config)).toEqual(["a", "b"]);
  expect(resolveAccount(config, "b")).toEqual({
    accountId: "b",
    enabled: true,
    account: ADA,
    endpoint: { path: "/run/signal.sock" },
    name: "B",
  });
  expect(inspectAccount(channelConfig("signal", {}), "default")).toEqual({ enabled: true, configured: false, missing: ["account"] });
  for (const section of [{}, { account: "0301" }, { account: NUMBER, socketPath: "/s", port: 1 }])
    expect(() => resolveAccount(channelConfig("signal", section), "default")).toThrow("channels.signal");
});
