import type { ChatType, LoginStep } from "../types/channel.ts";
import type { JsonObject } from "../types/common.ts";
import type { PacketShape } from "./packet-proxy.ts";

/** Action of the bot as the other side of a channel saw it. Ids are those of the platform. */
export type PeerAction =
  | { kind: "message"; to: string; text: string; messageId: string; threadId?: string; replyToId?: string }
  | { kind: "edit"; messageId: string; text: string }
  | { kind: "unsend"; messageId: string }
  | { kind: "reaction"; messageId: string; emoji: string }
  | { kind: "typing"; to: string; on: boolean };

/** Message of a user on the platform. */
export interface PeerMessage {
  accountId: string;
  chatType: ChatType;
  /** The conversation: `direct` or `group` of the peer. */
  peerId: string;
  senderId: string;
  text: string;
  threadId?: string;
  replyToId?: string;
}

/** The other side of a channel: a real server with a user's client, or a faithful fake of the platform. */
export interface ChannelPeer {
  /** Content of `channels.<id>` with this many accounts (`default`, then `second`). */
  config(options: { accounts: 1 | 2; credentials: "good" | "wrong" }): JsonObject;
  /** Values of the credentials, which nothing may show. */
  secrets: readonly string[];
  /** A user the bot can write to, as a target of `send` and as the `peerId` and `senderId` of a direct message. */
  direct: string;
  /** A room with the bot in it; needed when the channel declares `group`. */
  group?: string;
  /** A thread of `group` (of `direct` without one), as the platform names threads. Default: `t1`. */
  thread?: string;
  /** A message is one line on this platform: its users cannot write line breaks. */
  singleLine?: boolean;
  /** Says something as a user; resolves with the message's id once the platform has it. */
  say(message: PeerMessage): Promise<string>;
  /** Everything the bot did, oldest first. */
  readonly seen: readonly PeerAction[];
  /** True once the bot has acknowledged a message to the platform; left out where a platform has no acknowledgements. */
  acknowledged?(messageId: string): boolean;
  /**
   * Cuts the stream to the bot into packets of this shape from now on; `startPacketProxy` does it for any server. Left out where the bot reads no
   * stream of its own, as over HTTP.
   */
  packets?(shape: PacketShape): void;
  /** Needed when the channel has a `login`. */
  signIn?: {
    /** Content of `channels.<id>` of an account that has not signed in. */
    section: JsonObject;
    /** Does what a person does with a step; resolves when the platform has it. */
    follow(step: LoginStep): Promise<void>;
    /** True while the platform takes the account as signed in by the channel. */
    isSignedIn(): boolean;
  };
  /** Cuts every link at once; new ones are taken. */
  drop(): void | Promise<void>;
  /** Links of the bot that are open now. */
  connections(): number;
  close(): Promise<void>;
}
