import type { SvcConfig } from "../config/root.ts";
import type { Clock, Logger } from "./common.ts";

/** Markdown parsed once into text and spans; `render` turns spans into a platform's form. Offsets are UTF-16 code units. */
export interface MarkdownIR {
  text: string;
  spans: Array<{
    kind: "bold" | "italic" | "strike" | "code" | "codeBlock" | "link" | "quote" | "heading";
    start: number;
    end: number;
    href?: string;
    language?: string;
  }>;
}

/** A platform's form of a text: what is sent, and its plain form for previews. */
export interface RenderedText {
  text: string;
  parseMode?: string;
  entities?: unknown[];
}

/** Account after its config was resolved; contains secrets. */
export interface ChannelAccount {
  accountId: string;
  enabled: boolean;
  name?: string;
}

/** Kind of conversation on a platform. */
export type ChatType = "direct" | "group" | "channel";

/** A message from a platform. `text` is untrusted. */
export interface InboundEvent {
  /** Stable id of the event on its platform; synthetic where there is none. */
  id: string;
  chatType: ChatType;
  /** The conversation. `id` is the target of an answer: what `send` takes as `to`. */
  peer: { id: string; name?: string };
  /** `id` is what nobody else can take on (allow-lists and pairing go by it); `name` may change hands. `roles`: on this server of the platform. */
  sender: { id: string; name?: string; isBot?: boolean; isSelf?: boolean; roles?: string[] };
  threadId?: string;
  /** The thread is a topic of a forum, which the group is divided into, and no talk below a message. */
  isTopic?: boolean;
  parentPeerId?: string;
  /** Team or server of the platform. */
  teamId?: string;
  text: string;
  /** Attachments. `path` is that of `ChannelRun.saveMedia`; one without it is named to the agent and not read. */
  media?: Array<{ kind: string; mime: string; bytes?: number; path?: string; url?: string; name?: string }>;
  replyTo?: { id: string; text?: string; senderId?: string; isBot?: boolean };
  mentions?: { explicit: boolean; implicit: string[] };
  providerAt?: number;
  raw?: unknown;
}

/** `duplicate`: seen before; `dropped`: not admitted; both may be acknowledged to the platform. */
export type InboundAck = { status: "accepted" | "duplicate" | "dropped"; reason?: string };

/** State of one account, as the channel knows it. */
export interface ChannelState {
  lifecycle: "starting" | "ready" | "recovering" | "blocked" | "stopped";
  connected?: boolean;
  lastError?: string;
  /** The account as others see it: in groups its name counts as a mention, and what comes from its id is its own. */
  self?: { id?: string; name?: string };
}

/** One running account. */
export interface ChannelRun<A extends ChannelAccount = ChannelAccount> {
  readonly account: A;
  /** Ends the account; `start` resolves soon after. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Resolves once the event is durable: acknowledge to the platform after that. */
  receive(event: InboundEvent): Promise<InboundAck>;
  /**
   * True for a message that would be taken on: ask before its attachments are downloaded, with the event as it is without them. Files of others are only named, in
   * `media` without `path`: nobody reads what a stranger sends.
   */
  admits?(event: InboundEvent): Promise<boolean>;
  /**
   * Stores an attachment of a message that is about to be received, within the limits of the account. `mime` of the result is what the bytes say. The file goes with its
   * message: at once when that is not taken on, and after 10 min when it does not come. After an error deliver the message without `path`.
   * @throws {SvcError} `media-too-large`; `media-stalled` when the stream stops or never ends, `media-full` when there is no room now
   */
  saveMedia(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    about: { mime: string; name?: string },
  ): Promise<{ path: string; bytes: number; mime: string }>;
  state(patch: Partial<ChannelState>): void;
  /**
   * Says that the platform has just answered. An account that has said it once, is `ready` and does not say it any more is started again after
   * `gateway.channelStaleEventThresholdMinutes`: ask a silent platform whether it is there, and say this with its answer.
   */
  alive?(): void;
}

/** A message for a platform. */
export interface OutboundMessage {
  /** Same for every attempt of one row; a platform with idempotent sends takes it. */
  uid: string;
  to: string;
  threadId?: string;
  replyToId?: string;
  text?: RenderedText;
  media?: Array<{ mime: string; path?: string; url?: string; name?: string }>;
}

/** The platform took the message; it says nothing about reading. */
export interface Receipt {
  messageId: string;
  at: number;
}

/** A step of a sign-in, for the person who signs in: texts of at most 4,096 characters. */
export type LoginStep =
  /** Content of a QR code for the platform's app; a later one takes its place. */
  | { kind: "qr"; text: string }
  /** An `https` or `http` address to open in a browser. */
  | { kind: "url"; url: string }
  /** A code to enter on the platform. */
  | { kind: "code"; code: string }
  /** The last step: the account is signed in. `note`: what is left to do. */
  | { kind: "done"; identity?: string; note?: string };

/** A sign-in or sign-out of one account. */
export interface ChannelLogin {
  /** The whole config, with the secrets of the channel's own plugin; the account may still lack keys. */
  readonly config: SvcConfig;
  readonly accountId: string;
  /** Ends it: nobody waits any more. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** A chat platform. A capability is declared only if the platform keeps it: `channelContract` proves each one. */
export interface Channel<A extends ChannelAccount = ChannelAccount> {
  id: string;
  meta: { label: string; docs?: string; aliases?: string[]; targetPrefixes?: string[] };
  capabilities: {
    chatTypes: ChatType[];
    threads?: boolean;
    reactions?: boolean;
    edit?: boolean;
    unsend?: boolean;
    typing?: boolean;
    /** An answer is one message, as a letter is: its paragraphs are not sent while it is written. */
    wholeAnswers?: boolean;
    replyTo?: boolean;
    media?: { in: boolean; out: boolean; maxBytes: number };
    multiAccount: boolean;
    idempotentSend?: boolean;
    caseSensitiveIds?: boolean;
  };
  config: {
    list(config: SvcConfig): string[];
    /** @throws {SvcError} `config-invalid` */
    resolve(config: SvcConfig, accountId: string): A;
    /**
     * Text by which the platform knows the account, such as host and user: two gateways of one machine that name the same do not both run it. It may hold a secret, as
     * only its digest is shown. Left out: the platform tells the second one itself, or does not mind.
     */
    identity?(account: A): string;
    /** No secrets, no I/O. */
    inspect(config: SvcConfig, accountId: string): { enabled: boolean; configured: boolean; missing: string[] };
  };
  /** Runs one account; resolves when it has stopped. */
  start(run: ChannelRun<A>): Promise<void>;
  /**
   * Hands one message over; resolves when the platform has taken it.
   * @throws `NotDispatchedError` when nothing has left the process, `SendRefusedError` when the platform said no; after any other error it counts as
   *   unknown whether the platform has it
   */
  send(message: OutboundMessage, run: ChannelRun<A>): Promise<Receipt>;
  edit?(target: { to: string; messageId: string; text: RenderedText }, run: ChannelRun<A>): Promise<void>;
  unsend?(target: { to: string; messageId: string }, run: ChannelRun<A>): Promise<void>;
  react?(target: { to: string; messageId: string; emoji: string }, run: ChannelRun<A>): Promise<void>;
  typing?(to: string, on: boolean, run: ChannelRun<A>): Promise<void>;
  probe?(account: A, signal: AbortSignal): Promise<{ ok: boolean; ms: number; error?: string; identity?: string }>;
  audit?(account: A, signal: AbortSignal): Promise<Array<{ id: string; ok: boolean; message: string }>>;
  /**
   * Signs an account in by steps that a person follows; ends with `done`. A running account goes on meanwhile and is started again after `done`. What it
   * stores (`ctx.kv`) is the channel's own matter. For platforms without secrets in the config.
   */
  login?(login: ChannelLogin): AsyncIterable<LoginStep>;
  /** Clears what `login` has stored, here and on the platform; the account has stopped. @returns false when there was nothing to clear */
  logout?(login: ChannelLogin): Promise<boolean>;
  target: { normalize(raw: string): string | null; format(target: string): string };
  text: { limit: number; unit: "chars" | "utf16" | "bytes"; render(markdown: MarkdownIR): RenderedText };
}
