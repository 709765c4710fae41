import assert from "node:assert/strict";
import type { InboundAck, InboundEvent } from "../types/channel.ts";
import { channelConfig, type DrivenAccount, driveAccount, received } from "./channel-drive.ts";
import type { ChannelPeer } from "./channel-peer.ts";
import type { ChannelStage, ChannelSubject } from "./channel-stage.ts";
import type { ContractCase } from "./contract.ts";
import { eventually } from "./eventually.ts";
import type { PacketShape } from "./packet-proxy.ts";

type OnStage = (subject: ChannelSubject, check: (stage: ChannelStage) => Promise<void>) => Promise<void>;

/** Texts whose characters, quotes and line breaks suffer from a cut in the wrong place. */
const TEXTS = ["first: Grüße 🙂", 'second: "日本語" \\ \n and a line', "third"];

/** Cases about how a stream arrives: several messages in one packet, a message in many, and the same message again after a lost link. */
export function channelPacketCases(subject: ChannelSubject, onStage: OnStage): ContractCase[] {
  const make = (name: string, check: (stage: ChannelStage) => Promise<void>): ContractCase => ({
    name,
    run: () => onStage(subject, check),
  });
  return [
    make("messages that wait for the link arrive once and in order, also in its first packet", async (stage) => {
      const account = await startWithWaiting(stage, "joined");
      assert.deepEqual(
        account.inbox.map((e) => e.text),
        TEXTS,
      );
    }),
    make("messages that wait for the link arrive once and in order, also byte by byte", async (stage) => {
      const account = await startWithWaiting(stage, "split");
      assert.deepEqual(
        account.inbox.map((e) => e.text),
        TEXTS,
      );
    }),
    make("an answer can be sent while the first packet is still being read", checkAnswerAtOnce),
    make("messages arrive whole and in order wherever the stream is cut", checkShapes),
    make("a message whose link broke before it was acknowledged is acknowledged on the next one", checkRedelivery),
  ];
}

async function checkAnswerAtOnce(stage: ChannelStage): Promise<void> {
  const { peer } = stage;
  await startWithWaiting(stage, "joined", async (event, account) => {
    await account.send({ to: event.peer.id, markdown: `answer to ${event.text}` });
    return { status: "accepted" };
  });
  if (!peer.acknowledged) return;
  const answers = peer.seen.flatMap((a) => (a.kind === "message" ? [a.text] : []));
  assert.deepEqual(answers.sort(), TEXTS.map((text) => `answer to ${text}`).sort());
}

async function checkShapes({ account, peer, say }: ChannelStage): Promise<void> {
  if (!peer.packets) return;
  for (const shape of ["joined", "split"] as const) {
    peer.packets(shape);
    const texts = TEXTS.map((text) => `${shape} ${peer.singleLine ? text.replaceAll("\n", " ") : text}`);
    for (const text of texts) await say(text);
    await received(account, (e) => e.text === texts.at(-1)).catch((error: Error) => assert.fail(problem(account, error.message)));
    assert.deepEqual(
      account.inbox.slice(-texts.length).map((e) => e.text),
      texts,
    );
    await account.send({ to: peer.direct, markdown: `answer to ${shape}` });
  }
  assert.equal(lostLinks(account), 0, problem(account, "the link broke"));
}

/** The host has the message and the platform does not know: only an acknowledgement of the repetition ends that. */
async function checkRedelivery({ account, peer, say }: ChannelStage): Promise<void> {
  if (!peer.acknowledged) return;
  peer.packets?.("joined");
  let store: () => void = () => undefined;
  account.onReceive = () => new Promise((resolve) => (store = () => resolve({ status: "accepted" })));
  const id = await say("twice on the wire");
  await received(account, (e) => e.text === "twice on the wire");
  // A platform that is asked for its messages has no link while the host is at work.
  const links = peer.connections() > 0 ? 1 : 0;
  await peer.drop();
  await eventually(() => lostLinks(account) === links, 5_000);
  account.onReceive = async () => ({ status: "accepted" });
  store();
  await acknowledged(account, peer, [id]);
  await acknowledged(account, peer, [await say("and the next one")]);
  assert.equal(account.inbox.filter((e) => e.text === "and the next one").length, 1);
  assert.ok(lostLinks(account) <= 1, problem(account, "the link broke again"));
}

/**
 * Stops the account, says things meanwhile, and starts it again; what waits is acknowledged when this resolves. Does nothing more for a platform
 * without acknowledgements, which keeps nothing for a bot that is away.
 */
async function startWithWaiting(
  { channel, peer, account: before, say }: ChannelStage,
  shape: PacketShape,
  onReceive?: (event: InboundEvent, account: DrivenAccount) => Promise<InboundAck>,
): Promise<Pick<DrivenAccount, "inbox">> {
  if (!peer.acknowledged) return { inbox: TEXTS.map((text) => ({ text }) as InboundEvent) };
  await before.stop();
  peer.packets?.(shape);
  const ids: string[] = [];
  for (const text of TEXTS) ids.push(await say(text));
  const account = driveAccount(channel, channelConfig(channel, peer.config({ accounts: 1, credentials: "good" })), "default");
  if (onReceive) account.onReceive = (event) => onReceive(event, account);
  try {
    await acknowledged(account, peer, ids);
    await account.ready();
    assert.equal(lostLinks(account), 0, problem(account, "the link broke"));
    return account;
  } finally {
    await account.stop();
  }
}

async function acknowledged(account: DrivenAccount, peer: ChannelPeer, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    await eventually(() => assert.ok(peer.acknowledged?.(id), problem(account, `message ${id} is not acknowledged`)) ?? true, 5_000);
}

/** Counts how often the account lost its link. */
function lostLinks({ states }: DrivenAccount): number {
  return states.filter((state, i) => state.lifecycle === "recovering" && states[i - 1]?.lifecycle !== "recovering").length;
}

function problem(account: DrivenAccount, what: string): string {
  const { states, inbox } = account;
  const texts = JSON.stringify(inbox.map((e) => e.text));
  return `${what}; lost links: ${lostLinks(account)}, last error: ${states.at(-1)?.lastError ?? "none"}, received: ${texts}`;
}
