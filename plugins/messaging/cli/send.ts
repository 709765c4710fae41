import { randomUUID } from "node:crypto";
import { defineCommand, printableLine } from "svc/sdk";

/** `svc channels send <to> <text>`. */
export default defineCommand({
  path: ["channels", "send"],
  summary: "Send a message to somebody on a channel",
  details:
    "The message is stored before it is answered, and waits in the queue while the account is away. A repeat with the same --key is the same message and is sent once.",
  examples: [
    ["Into a room", 'svc channels send "irc:#kitchen" "The bread is ready."'],
    ["Through one of several accounts", 'svc channels send --channel irc --account work ada "See you at ten."'],
  ],
  positionals: [
    { name: "to", required: true },
    { name: "text", required: true, rest: true },
  ],
  options: {
    channel: { kind: "string", description: "Channel (default: the prefix of the recipient)", placeholder: "id" },
    account: { kind: "string", description: "Account (default: the default account of the channel)", placeholder: "id" },
    thread: { kind: "string", description: "Thread of the conversation", placeholder: "id" },
    key: { kind: "string", description: "Name of the message, for repeats (default: a new one)", placeholder: "text" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: (cli, values, [to = "", ...words]) =>
    cli.withClient(async (client) => {
      const { channel, account, thread, key } = values;
      const sent = await client.request("send", {
        to,
        message: words.join(" "),
        idempotencyKey: typeof key === "string" ? key : randomUUID(),
        ...(typeof channel === "string" ? { channel } : {}),
        ...(typeof account === "string" ? { accountId: account } : {}),
        ...(typeof thread === "string" ? { threadId: thread } : {}),
      });
      if (cli.json) cli.stdout.json({ ok: true, ...sent });
      else cli.stdout.line(`${printableLine(sent.to)} on ${printableLine(sent.channel)}: ${told[sent.status]}`);
      return 0;
    }),
});

const told = {
  sent: "sent.",
  queued: "waits in the queue; see svc channels queue list",
  uncertain: "whether the platform has it is not known; see svc channels queue list",
} as const;
