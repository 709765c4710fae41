import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { channelConfig, type DrivenAccount, driveAccount, received, seenBy } from "./channel-drive.ts";
import type { ChannelPeer } from "./channel-peer.ts";
import type { ChannelStage, ChannelSubject } from "./channel-stage.ts";
import { type ContractCase, rejectionOf, within } from "./contract.ts";
import { eventually } from "./eventually.ts";

type OnStage = (subject: ChannelSubject, check: (stage: ChannelStage) => Promise<void>) => Promise<void>;

/** Time of silence after which nothing is expected any more. */
const QUIET_MS = 300;

/** Cases about what goes wrong: links, credentials, a host that is slow or fails, an end at any moment. */
export function channelFaultCases(subject: ChannelSubject, onStage: OnStage): ContractCase[] {
  const make = (name: string, check: (stage: ChannelStage) => Promise<void>): ContractCase => ({
    name,
    run: () => onStage(subject, check),
  });
  return [
    make("a lost link is made again, and messages go both ways as before", checkReconnect),
    make("a message sent while the link breaks is told as failed or arrives once", checkSendWhileDropped),
    make("a message is acknowledged only once the host has it", checkAcknowledge),
    make("a host that cannot take a message does not end the account", async ({ account, say }) => {
      account.onReceive = () => Promise.reject(new Error("no storage"));
      await say("refused");
      await received(account, (e) => e.text === "refused");
      account.onReceive = async () => ({ status: "accepted" });
      await say("taken");
      await received(account, (e) => e.text === "taken");
    }),
    make("its end closes every link within 5 s", async ({ account, peer }) => {
      // A platform that is asked again and again has no open request for moments.
      await eventually(() => assert.ok(peer.connections() > 0, "the peer sees no link of a ready account") ?? true);
      await account.stop();
      await eventually(() => assert.equal(peer.connections(), 0, "links that are still open") ?? true, 5_000);
    }),
    { name: "refused credentials block the account within 10 s, without a loop", run: () => checkWrongCredentials(subject) },
    { name: "an account that is stopped before it is ready stops", run: () => checkEarlyStop(subject) },
    { name: "two accounts run side by side", run: () => checkTwoAccounts(subject) },
    { name: "a probe tells good credentials from bad ones", run: () => checkProbe(subject) },
    make("no secret stands in a log line or a state", async ({ account, peer, say }) => {
      await say("hello");
      await received(account, (e) => e.text === "hello");
      await peer.drop();
      await eventually(() => account.states.at(-1)?.lifecycle === "ready" && account.states.some((s) => s.lifecycle === "recovering"));
      checkSecrets(account, peer);
    }),
  ];
}

async function checkReconnect({ account, peer, say }: ChannelStage): Promise<void> {
  await say("before");
  await received(account, (e) => e.text === "before");
  const told = account.states.length;
  await peer.drop();
  await eventually(() => account.states.slice(told).some((s) => s.lifecycle === "recovering"), 5_000);
  await account.ready();
  await say("after");
  await received(account, (e) => e.text === "after");
  await account.send({ to: peer.direct, markdown: "still here" });
  await seenBy(peer, "message", (m) => m.text === "still here");
  await sleep(QUIET_MS);
  for (const text of ["before", "after"])
    assert.equal(account.inbox.filter((e) => e.text === text).length, 1, `"${text}" was delivered twice`);
}

async function checkSendWhileDropped({ account, peer }: ChannelStage): Promise<void> {
  const sending = rejectionOf(account.send({ to: peer.direct, markdown: "in between" }));
  await peer.drop();
  const failed = await sending;
  await account.ready();
  await sleep(QUIET_MS);
  const arrived = peer.seen.filter((a) => a.kind === "message" && a.text === "in between").length;
  if (failed === undefined) assert.equal(arrived, 1, "told as sent");
  else assert.ok(arrived <= 1, "a message arrived twice");
}

async function checkAcknowledge({ account, peer, say }: ChannelStage): Promise<void> {
  if (!peer.acknowledged) return;
  let store: () => void = () => undefined;
  account.onReceive = () => new Promise((resolve) => (store = () => resolve({ status: "accepted" })));
  const id = await say("keep this");
  await received(account, (e) => e.text === "keep this");
  await sleep(QUIET_MS);
  assert.equal(peer.acknowledged(id), false, "acknowledged before the host had it");
  store();
  await eventually(() => peer.acknowledged?.(id), 5_000);
}

async function checkWrongCredentials({ create, peer: open }: ChannelSubject): Promise<void> {
  const channel = create();
  const peer = await open();
  const account = driveAccount(channel, channelConfig(channel, peer.config({ accounts: 1, credentials: "wrong" })), "default");
  try {
    await eventually(() => account.states.at(-1)?.lifecycle === "blocked", 10_000);
    assert.ok(account.states.at(-1)?.lastError, "a blocked account says why");
    await eventually(() => peer.connections() === 0, 5_000);
    await sleep(QUIET_MS);
    assert.equal(peer.connections(), 0, "it tries again with the same credentials");
    checkSecrets(account, peer);
  } finally {
    await account.stop().finally(() => peer.close());
  }
}

async function checkEarlyStop({ create, peer: open }: ChannelSubject): Promise<void> {
  const channel = create();
  const peer = await open();
  const account = driveAccount(channel, channelConfig(channel, peer.config({ accounts: 1, credentials: "good" })), "default");
  try {
    await account.stop();
    await eventually(() => assert.equal(peer.connections(), 0, "links that are still open") ?? true, 5_000);
  } finally {
    await peer.close();
  }
}

async function checkTwoAccounts({ create, peer: open }: ChannelSubject): Promise<void> {
  const channel = create();
  if (!channel.capabilities.multiAccount) return;
  const peer = await open();
  const config = channelConfig(channel, peer.config({ accounts: 2, credentials: "good" }));
  const ids = ["default", "second"];
  assert.deepEqual([...channel.config.list(config)].sort(), ids);
  const accounts = ids.map((id) => driveAccount(channel, config, id));
  try {
    for (const account of accounts) await account.ready();
    for (const accountId of ids) {
      await peer.say({ accountId, chatType: "direct", peerId: peer.direct, senderId: peer.direct, text: `for ${accountId}` });
    }
    for (const [i, id] of ids.entries()) await received(accounts[i] as DrivenAccount, (e) => e.text === `for ${id}`);
    for (const account of accounts) assert.equal(account.inbox.length, 1, "a message went to both accounts");
  } finally {
    await Promise.all(accounts.map((account) => account.stop())).finally(() => peer.close());
  }
}

async function checkProbe({ create, peer: open }: ChannelSubject): Promise<void> {
  const channel = create();
  if (!channel.probe) return;
  const peer = await open();
  try {
    for (const credentials of ["good", "wrong"] as const) {
      const account = channel.config.resolve(channelConfig(channel, peer.config({ accounts: 1, credentials })), "default");
      const found: { ok: boolean } = await within(channel.probe(account, AbortSignal.timeout(10_000)), 10_000, "a probe");
      assert.equal(found.ok, credentials === "good", `with ${credentials} credentials`);
      for (const secret of peer.secrets) assert.ok(!JSON.stringify(found).includes(secret), "a probe shows a secret");
    }
    assert.equal(peer.seen.length, 0, "a probe never sends a message");
  } finally {
    await peer.close();
  }
}

function checkSecrets(account: DrivenAccount, peer: ChannelPeer): void {
  const told = `${account.logs.join("\n")}${JSON.stringify(account.states)}`;
  for (const secret of peer.secrets) assert.ok(!told.includes(secret), "a secret is shown");
}
