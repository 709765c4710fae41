import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const byUid = z.strictObject({ uid: idText(200) });
const channel = idText(128);
const accountId = idText(256).optional().describe("default: the default account of the channel");
const place = z.string().min(1).max(2_000);
const ofAccount = z.strictObject({ channel, accountId });
const code = z.string().trim().min(1).max(64);

/** Methods of the protocol that this plugin serves: accounts of channels, who may write to them, and messages that wait or were not delivered. */
export const messagingMethods = {
  "channels.status": methodSpec(
    "read",
    "accounts of all channels as they are now; with `probe` each is asked whether its credentials and rights are good, without a message",
    z.strictObject({
      probe: z.boolean().optional(),
      timeoutMs: z.number().int().min(1).max(60_000).optional().describe("of each probe; default 10,000"),
      channel: channel.optional(),
    }),
  ),
  "channels.start": methodSpec("admin", "starts an account that was stopped or is blocked", ofAccount),
  "channels.stop": methodSpec(
    "admin",
    "stops an account until it is started again or the gateway restarts; what waits for it stays in the queue",
    ofAccount,
  ),
  "channels.login": methodSpec(
    "admin",
    "signs an account in by steps that a person follows: `accepted`, then events `channels.login` for this connection only, then the end; it ends with the connection, too",
    ofAccount.extend({ timeoutMs: z.number().int().min(1_000).max(900_000).optional().describe("of the whole; default 300,000") }),
  ),
  "channels.logout": methodSpec(
    "admin",
    "stops an account and clears what `channels.login` has stored; credentials in the config stay",
    ofAccount,
  ),
  send: methodSpec(
    "write",
    "sends a text to a recipient on a channel; it is stored before it is answered, and the answer waits up to 10 s for the platform",
    z.strictObject({
      to: idText(512).describe("recipient on the channel; a prefix selects the channel where none is named: `irc:#room`"),
      message: z.string().min(1).optional().describe("Markdown; may be left out with a file"),
      channel: channel.optional().describe("a channel, or `last`: where `sessionKey` last heard from somebody"),
      accountId,
      threadId: idText(256).optional(),
      sessionKey: idText(512).optional().describe("session that is told when the message is not delivered; default: the main one"),
      idempotencyKey: z.string().min(1).max(256).describe("a repeat with the same key is the same message"),
      mediaUrl: place.optional().describe("a file: an address of the public web, or a path in the agent's workspace"),
      mediaUrls: z.array(place).max(10).optional().describe("more of them; a channel that takes no files gets addresses and names as text"),
      replyToId: idText(256).optional().describe("message on the platform to quote, where the channel can"),
    }),
  ),
  "messaging.pairing.list": methodSpec(
    "pairing",
    "people who wait to be let in, with their codes, and those who were",
    z.strictObject({ channel: channel.optional() }),
  ),
  "messaging.pairing.approve": methodSpec(
    "pairing",
    "lets the sender of a request write direct messages to its account",
    z.strictObject({ channel, accountId, code, notify: z.boolean().optional().describe("tell them") }),
  ),
  "messaging.pairing.reject": methodSpec("pairing", "drops a request", z.strictObject({ channel, accountId, code })),
  "messaging.pairing.revoke": methodSpec(
    "pairing",
    "takes an approval back: the sender is a stranger to the account again",
    z.strictObject({ channel, accountId, senderId: idText(512).describe("as the platform knows them") }),
  ),
  "messaging.queue.list": methodSpec(
    "read",
    "messages to channels, newest first: waiting and undelivered ones, with `all` the others too",
    z.strictObject({
      all: z.boolean().optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(1_000).optional(),
    }),
  ),
  "messaging.queue.retry": methodSpec("write", "sends a message again now, with a fresh set of attempts", byUid),
  "messaging.queue.drop": methodSpec("write", "drops a waiting message", byUid),
} as const;
