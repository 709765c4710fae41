import type { Channel } from "../types/channel.ts";
import type { DrivenAccount } from "./channel-drive.ts";
import type { ChannelPeer } from "./channel-peer.ts";

/** A channel adapter and its other side, as `channelContract` needs them. */
export interface ChannelSubject {
  /** The adapter. */
  create(): Channel;
  /** A fresh other side of it; called once per case. */
  peer(): Promise<ChannelPeer>;
}

/** A running account and its other side. */
export interface ChannelStage {
  channel: Channel;
  peer: ChannelPeer;
  account: DrivenAccount;
  say(text: string, more?: { group?: boolean; threadId?: string; replyToId?: string }): Promise<string>;
}
