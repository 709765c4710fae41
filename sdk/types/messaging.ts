/** Destination of a message. `accountId` and `threadId` as the channel knows them. */
export interface MessageRoute {
  channel: string;
  /** Recipient on the channel; unset for `webchat`, which is the session itself. */
  to?: string;
  accountId?: string;
  threadId?: string;
}

/**
 * A file for a channel: in the agent's workspace (a path below it, or relative to it), or an address of the public web that is fetched when the message is sent. A channel
 * that takes no files gets the address, or the name, as text.
 */
export type OutboundMedia = { path: string; name?: string } | { url: string; name?: string };

/** A text for a channel. */
export interface OutboundRequest {
  /** Session whose answer this is; its last route is what `channel: "last"` means. */
  sessionKey: string;
  agentId: string;
  /** `last`, or an id of `channels()`. */
  channel: string;
  to?: string;
  accountId?: string;
  threadId?: string;
  /** Message on the platform that this one answers; quoted as `replyToMode` says, where the channel can. */
  replyToId?: string;
  /** Markdown; may be empty with files. */
  text: string;
  /** At most 10; they go with the last message that the text becomes. */
  media?: OutboundMedia[];
  /** `false`: somebody has written it so, and `messages.responsePrefix` stays away. Default: true. */
  isAnswer?: boolean;
  /** Origin of the message; decides how long it may wait: 1 h for `chat`, 24 h for the others. */
  origin: "chat" | "hook" | "cron" | "heartbeat";
  /** Same for every try; a repeat is the same message. */
  uid: string;
}

/** Outcome of a message to a channel, or that there is none yet. `uncertain`: it cannot be known whether the platform took it. */
export interface OutboundEnd {
  state: "done" | "failed" | "expired" | "uncertain";
  /** Id the platform gave it. */
  messageId?: string;
  /** Why nothing was sent although the message is `done`: it was empty, had nothing to tell, or `session.sendPolicy` keeps it in its session. */
  withheld?: "empty" | "silent" | "heartbeat" | "policy";
  /** Plain sentence, safe to show. */
  error?: string;
}

/** Service `messaging@1`: messages to channels, each a row before its first try. */
export interface Messaging {
  /** Ids a request may name, `webchat` among them. */
  channels(): string[];
  /** Id of the channel of this name: an id, another name of a channel, or a plugin that brings one channel. */
  channelOf(name: string): string | undefined;
  /**
   * Takes a message on; resolves when its row is committed.
   * @throws {SvcError} `unknown-channel`, `recipient-required`, `invalid-recipient`, `invalid-media`, `text-too-long`, `deliveries-full`, `storage-*`
   */
  deliver(request: OutboundRequest): Promise<{ uid: string; route: MessageRoute }>;
  /** Resolves with the outcome. Rejects with the signal's reason, or `wait-timeout` after `timeoutMs` (default 60 s). @throws {SvcError} `unknown-delivery` */
  waitDelivered(uid: string, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<OutboundEnd>;
  /** Returns the destination of such a request. @throws as `deliver` */
  resolveTarget(
    request: Pick<OutboundRequest, "sessionKey" | "agentId" | "channel" | "to" | "accountId" | "threadId">,
  ): Promise<MessageRoute>;
  /**
   * Tools that runs begun by a message in this place are narrowed to (`groups.<id>.tools`): those of the group `to`, or of `*` for one that the config does not
   * name. Undefined: to none, as without a recipient, in `webchat`, or on a channel that is not known.
   */
  toolsIn(place: Pick<MessageRoute, "channel" | "to" | "accountId">): { allow?: readonly string[]; deny?: readonly string[] } | undefined;
  /** Returns the route of the last message from a channel to the session, if there was one. */
  lastRoute(sessionKey: string): Promise<MessageRoute | undefined>;
  /** Whether `commands.ownerAllowFrom` names somebody on a channel; ids are compared as the channel compares them, and on one that is not known nobody is an owner. */
  isOwner(person: { channel: string; id: string }): boolean;
}
