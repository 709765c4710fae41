import assert from "node:assert/strict";
import { channelConfig, driveAccount, received, seenBy } from "./channel-drive.ts";
import { channelFaultCases } from "./channel-faults.ts";
import { channelLoginCases } from "./channel-login.ts";
import { channelPacketCases } from "./channel-packets.ts";
import type { ChannelPeer } from "./channel-peer.ts";
import type { ChannelStage, ChannelSubject } from "./channel-stage.ts";
import { channelTextCases } from "./channel-text.ts";
import { type ContractCase, defineCases } from "./contract.ts";

/**
 * Conformance suite of a channel adapter, to be called inside `describe`: round trips, limits, rendered texts, capabilities, packets, lost links, refused
 * credentials, two accounts, acknowledgements, secrets, sign-ins. The suite stands in for the plugin that owns channels: admission, splitting and queues are proven there.
 */
export function channelContract(subject: ChannelSubject): void {
  defineCases(channelCases(subject));
}

/** The statements of `channelContract`, for running them without a test runner. */
export function channelCases(subject: ChannelSubject): ContractCase[] {
  const make = (name: string, check: (stage: ChannelStage) => Promise<void>): ContractCase => ({
    name,
    run: () => onStage(subject, check),
  });
  return [
    { name: "it describes itself, and its config without showing secrets", run: () => checkConfig(subject) },
    make("a direct message arrives whole, and the answer goes back", checkDirect),
    make("a group message arrives as one, and the answer goes to the group", checkGroup),
    make("every message has an id of its own", async ({ account, say }) => {
      for (const text of ["one", "two", "three"]) await say(text);
      await received(account, (e) => e.text === "three");
      assert.equal(new Set(account.inbox.map((e) => e.id)).size, account.inbox.length);
    }),
    make("a text at its limit goes out whole, and a longer one is never cut in silence", checkLimit),
    make("a long text is never cut inside a character", checkWideText),
    make("lines and characters of more than one byte go out as they are", checkText),
    make("threads and replies are kept both ways", checkThreads),
    make("each declared capability is seen at the other side", checkCapabilities),
    make("its own messages do not come back as somebody else's", async ({ account, peer, say }) => {
      await account.send({ to: peer.direct, markdown: "an echo?" });
      await say("after the echo");
      await received(account, (e) => e.text === "after the echo");
      assert.deepEqual(
        account.inbox.filter((e) => e.text === "an echo?" && e.sender.isSelf !== true),
        [],
      );
    }),
    ...channelTextCases(subject, onStage),
    ...channelPacketCases(subject, onStage),
    ...channelFaultCases(subject, onStage),
    ...channelLoginCases(subject),
  ];
}

/** Runs one account until it is ready, checks, and stops everything. */
async function onStage(subject: ChannelSubject, check: (stage: ChannelStage) => Promise<void>): Promise<void> {
  const channel = subject.create();
  const peer = await subject.peer();
  const account = driveAccount(channel, channelConfig(channel, peer.config({ accounts: 1, credentials: "good" })), "default");
  const say: ChannelStage["say"] = async (text, { group, ...more } = {}) =>
    peer.say({
      accountId: "default",
      chatType: group ? "group" : "direct",
      peerId: group ? (peer.group as string) : peer.direct,
      senderId: peer.direct,
      text,
      ...more,
    });
  try {
    await account.ready();
    await check({ channel, peer, account, say });
  } finally {
    await account.stop().finally(() => peer.close());
  }
}

async function checkConfig({ create, peer: open }: ChannelSubject): Promise<void> {
  const channel = create();
  const peer = await open();
  try {
    assert.match(channel.id, /^[a-z][a-z0-9-]*$/);
    assert.ok(channel.meta.label !== "" && channel.capabilities.chatTypes.length > 0 && channel.text.limit > 0);
    const config = channelConfig(channel, peer.config({ accounts: 1, credentials: "good" }));
    assert.deepEqual(channel.config.list(config), ["default"]);
    const told = channel.config.inspect(config, "default");
    assert.deepEqual([told.enabled, told.configured, told.missing], [true, true, []]);
    for (const secret of peer.secrets) assert.ok(!JSON.stringify(told).includes(secret), "inspect shows a secret");
    const empty = channel.config.inspect(channelConfig(channel, {}), "default");
    assert.equal(empty.configured, false, "an empty section counts as configured");
    const target = channel.target.normalize(peer.direct);
    assert.ok(target !== null && channel.target.normalize(channel.target.format(target)) === target, "format and normalize do not agree");
  } finally {
    await peer.close();
  }
}

async function checkDirect({ channel, account, peer, say }: ChannelStage): Promise<void> {
  if (!channel.capabilities.chatTypes.includes("direct")) return;
  await say("hello there");
  const event = await received(account, (e) => e.text === "hello there");
  assert.equal(event.chatType, "direct");
  assert.equal(event.sender.id, peer.direct);
  assert.ok(event.id !== "" && event.peer.id !== "");
  const receipt = await account.send({ to: event.peer.id, markdown: "good morning" });
  const [shown] = await seenBy(peer, "message", (m) => m.text === "good morning");
  assert.equal(shown?.to, peer.direct);
  assert.equal(receipt.messageId, shown?.messageId, "the receipt names another message");
}

async function checkGroup({ channel, account, peer, say }: ChannelStage): Promise<void> {
  if (!channel.capabilities.chatTypes.includes("group")) return;
  assert.ok(peer.group, "the channel declares groups, the peer has none");
  await say("hello all", { group: true });
  const event = await received(account, (e) => e.text === "hello all");
  assert.deepEqual([event.chatType, event.sender.id], ["group", peer.direct]);
  assert.notEqual(event.peer.id, event.sender.id, "the peer of a group message is the group");
  await account.send({ to: event.peer.id, markdown: "hello group" });
  const [shown] = await seenBy(peer, "message", (m) => m.text === "hello group");
  assert.equal(shown?.to, peer.group);
}

async function checkLimit({ channel, account, peer }: ChannelStage): Promise<void> {
  const limit = Math.min(channel.text.limit, 100_000);
  const exact = "x".repeat(limit);
  await account.send({ to: peer.direct, markdown: exact });
  assert.equal((await seenBy(peer, "message", (m) => m.text === exact)).length, 1);
  if (channel.text.limit > limit) return;
  const long = "y".repeat(limit + 1);
  const taken = await account.send({ to: peer.direct, markdown: long }).then(
    () => true,
    () => false,
  );
  if (taken) await seenBy(peer, "message", () => textsTo(peer, "y") === long);
}

/** One character as people see it: 11 bytes, 5 UTF-16 units, 3 code points. */
const WIDE = "👩‍🔬";

async function checkWideText({ channel, account, peer }: ChannelStage): Promise<void> {
  const { limit, unit } = channel.text;
  if (limit > 100_000) return;
  const size = { bytes: Buffer.byteLength(WIDE), utf16: WIDE.length, chars: [...WIDE].length }[unit];
  const long = WIDE.repeat(Math.ceil(limit / size) + 1);
  const taken = await account.send({ to: peer.direct, markdown: long }).then(
    () => true,
    () => false,
  );
  if (!taken) return;
  const parts = () => peer.seen.flatMap((a) => (a.kind === "message" ? [a.text] : []));
  await seenBy(peer, "message", () => parts().join("") === long);
  for (const part of parts()) assert.equal(part, WIDE.repeat(part.length / WIDE.length), "a character was cut");
}

async function checkText({ account, peer }: ChannelStage): Promise<void> {
  const text = 'Grüße 🙂\n日本語 \\ "quoted"\n\tand a tab';
  await account.send({ to: peer.direct, markdown: text });
  await seenBy(peer, "message", () => peer.seen.flatMap((a) => (a.kind === "message" ? [a.text] : [])).join("\n") === text);
}

async function checkThreads({ channel, account, peer, say }: ChannelStage): Promise<void> {
  const { threads, replyTo } = channel.capabilities;
  const group = channel.capabilities.chatTypes.includes("group");
  const to = group ? (peer.group as string) : peer.direct;
  if (threads) {
    const threadId = peer.thread ?? "t1";
    await say("in a thread", { group, threadId });
    assert.equal((await received(account, (e) => e.text === "in a thread")).threadId, threadId);
    await account.send({ to, threadId, markdown: "back to the thread" });
    assert.equal((await seenBy(peer, "message", (m) => m.text === "back to the thread"))[0]?.threadId, threadId);
  }
  if (replyTo) {
    const first = await say("a question", { group });
    await say("about that", { group, replyToId: first });
    assert.equal((await received(account, (e) => e.text === "about that")).replyTo?.id, first);
    await account.send({ to, replyToId: first, markdown: "an answer" });
    assert.equal((await seenBy(peer, "message", (m) => m.text === "an answer"))[0]?.replyToId, first);
  }
}

async function checkCapabilities({ channel, account, peer }: ChannelStage): Promise<void> {
  const { capabilities } = channel;
  const { messageId } = await account.send({ to: peer.direct, markdown: "first words" });
  const to = peer.direct;
  const has = <T>(declared: boolean | undefined, method: T | undefined, name: string): method is T => {
    if (declared) assert.ok(method, `${name} is declared, but there is no such method`);
    return declared === true;
  };
  if (has(capabilities.edit, channel.edit, "edit")) {
    await channel.edit?.({ to, messageId, text: channel.text.render({ text: "better words", spans: [] }) }, account.run);
    await seenBy(peer, "edit", (a) => a.messageId === messageId && a.text === "better words");
  }
  if (has(capabilities.reactions, channel.react, "reactions")) {
    await channel.react?.({ to, messageId, emoji: "👍" }, account.run);
    await seenBy(peer, "reaction", (a) => a.messageId === messageId && a.emoji === "👍");
  }
  if (has(capabilities.typing, channel.typing, "typing")) {
    for (const on of [true, false]) {
      await channel.typing?.(to, on, account.run);
      await seenBy(peer, "typing", (a) => a.to === to && a.on === on);
    }
  }
  if (has(capabilities.unsend, channel.unsend, "unsend")) {
    await channel.unsend?.({ to, messageId }, account.run);
    await seenBy(peer, "unsend", (a) => a.messageId === messageId);
  }
}

function textsTo(peer: ChannelPeer, prefix: string): string {
  return peer.seen.flatMap((a) => (a.kind === "message" && a.text.startsWith(prefix) ? [a.text] : [])).join("");
}
