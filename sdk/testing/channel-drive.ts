import assert from "node:assert/strict";
import { rootSchema } from "../../kernel/config/root-schema.ts";
import type { SvcConfig } from "../config/root.ts";
import type { Channel, ChannelRun, ChannelState, InboundAck, InboundEvent, OutboundMessage, Receipt } from "../types/channel.ts";
import type { Logger } from "../types/common.ts";
import type { ChannelPeer, PeerAction } from "./channel-peer.ts";
import { within } from "./contract.ts";
import { eventually } from "./eventually.ts";
import { openMediaFolder, type SavedAttachment } from "./media-folder.ts";

/** One running account, as the suite drives it in place of the plugin that owns channels. */
export interface DrivenAccount {
  run: ChannelRun;
  /** Events the adapter delivered, oldest first. */
  inbox: InboundEvent[];
  /** Attachments it saved, oldest first. */
  media: SavedAttachment[];
  /** Every state it told, oldest first, merged. */
  states: ChannelState[];
  /** Log lines with their fields, as text. */
  logs: string[];
  /** Decides about the next events: a gate that opens later, or a failure. */
  onReceive: (event: InboundEvent) => Promise<InboundAck>;
  send(message: Partial<OutboundMessage> & { to: string; markdown?: string }): Promise<Receipt>;
  ready(): Promise<void>;
  /** Aborts the account and waits for the end of `start`. */
  stop(): Promise<void>;
}

/** A whole config with this section for the channel. */
export function channelConfig(channel: Channel, section: unknown): SvcConfig {
  return { ...rootSchema.parse({}), channels: { [channel.id]: section } } as unknown as SvcConfig;
}

/** Starts one account against the peer. */
export function driveAccount(channel: Channel, config: SvcConfig, accountId: string): DrivenAccount {
  const stopping = new AbortController();
  const logs: string[] = [];
  let state: ChannelState = { lifecycle: "starting" };
  const kept = new Set<string>();
  let sent = 0;
  const media = openMediaFolder(channel.capabilities.media?.maxBytes);
  const driven: DrivenAccount = {
    inbox: [],
    media: media.saved,
    states: [],
    logs,
    onReceive: async () => ({ status: "accepted" }),
    run: {
      account: channel.config.resolve(config, accountId),
      signal: stopping.signal,
      logger: recordingLogger(logs),
      clock: { now: Date.now, monotonic: () => performance.now() },
      async receive(event) {
        // As the host does: a platform that was not sure repeats itself.
        if (kept.has(event.id)) return { status: "duplicate" };
        driven.inbox.push(event);
        const ack = await driven.onReceive(event);
        kept.add(event.id);
        return ack;
      },
      saveMedia: media.save,
      state(patch) {
        state = { ...state, ...patch };
        driven.states.push(state);
      },
    },
    async send({ markdown, ...message }) {
      sent += 1;
      const text = message.text ?? channel.text.render({ text: markdown ?? "", spans: [] });
      return within(channel.send({ uid: `contract-${sent}`, text, ...message }, driven.run), 10_000, "send");
    },
    async ready() {
      await eventually(() => assert.equal(driven.states.at(-1)?.lifecycle, "ready", failure() ?? "its state") ?? true, 10_000);
    },
    async stop() {
      stopping.abort();
      await within(started, 5_000, "start, after its signal").finally(() => media.close());
    },
  };
  let fault: unknown;
  const failure = () => (fault === undefined ? undefined : `start rejected with ${String(fault)}`);
  const started = channel.start(driven.run).catch((error: unknown) => {
    fault = error;
  });
  return driven;
}

/** Waits until the peer has seen something of this kind that matches, and says how many there are. */
export async function seenBy<K extends PeerAction["kind"]>(
  peer: ChannelPeer,
  kind: K,
  matches: (action: Extract<PeerAction, { kind: K }>) => boolean,
): Promise<Array<Extract<PeerAction, { kind: K }>>> {
  const found = () => peer.seen.filter((a): a is Extract<PeerAction, { kind: K }> => a.kind === kind && matches(a as never));
  return eventually(() => {
    const now = found();
    assert.ok(now.length > 0, `the peer saw no such ${kind}; it saw ${JSON.stringify(peer.seen)}`);
    return now;
  }, 5_000);
}

/** Waits for an event the adapter delivers. */
export async function received(driven: DrivenAccount, matches: (event: InboundEvent) => boolean): Promise<InboundEvent> {
  return eventually(() => {
    const event = driven.inbox.find(matches);
    assert.ok(event, `no such event arrived; there were ${JSON.stringify(driven.inbox)}`);
    return event;
  }, 5_000);
}

function recordingLogger(lines: string[]): Logger {
  const write = (message: string, fields?: unknown) => void lines.push(`${message} ${JSON.stringify(fields ?? {}, errorsAsText)}`);
  const logger: Logger = { trace: write, debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.message} ${value.stack}` : value;
}
