import { type CliCommand, type CliContext, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const account = { kind: "string", description: "Account (default: the one the code belongs to)", placeholder: "id" } as const;

type Listed = ResultOf<"messaging.pairing.list">;

const list = defineCommand({
  path: ["pairing", "list"],
  summary: "List people who wait to be let in",
  details: "A stranger who writes to an account gets a code; whoever is approved may write direct messages to that account.",
  positionals: [{ name: "channel", required: false }],
  options: { json },
  rpc: true,
  run: async (cli, _values, [channel]) => {
    const listed = await cli.withClient((client) => client.request("messaging.pairing.list", channel === undefined ? {} : { channel }));
    if (cli.json) cli.stdout.json({ ok: true, ...listed });
    else print(cli, listed);
    return 0;
  },
});

function print({ stdout, color }: CliContext, { requests, paired }: Listed): void {
  for (const request of requests) {
    stdout.line(color.yellow(`${describeSender(request)} waits to be let in.`));
    stdout.line(`  svc pairing approve ${printableLine(request.channel)} ${printableLine(request.code)}`);
  }
  if (requests.length > 0 && paired.length > 0) stdout.line();
  if (paired.length > 0) {
    stdout.table(
      ["CHANNEL", "ACCOUNT", "SENDER", "NAME"],
      paired.map(({ channel, accountId, senderId, senderName = "" }) => [channel, accountId, senderId, senderName].map(printableLine)),
    );
  } else if (requests.length === 0) stdout.line("Nobody is paired, and nobody waits.");
}

/** `Ada (@ada) on lines, account default`; names are a stranger's. */
export function describeSender({
  channel,
  accountId,
  senderId,
  senderName,
}: Pick<Listed["requests"][number], "channel" | "accountId" | "senderId" | "senderName">): string {
  const sender = senderName === undefined || senderName === senderId ? senderId : `${senderName} (${senderId})`;
  return `${printableLine(sender)} on ${printableLine(channel)}, account ${printableLine(accountId)}`;
}

function decideCommand(word: "approve" | "reject", texts: { summary: string; done: string }): CliCommand {
  const notify = { kind: "flag", description: "Tell them" } as const;
  return defineCommand({
    path: ["pairing", word],
    summary: texts.summary,
    positionals: [
      { name: "channel", required: true },
      { name: "code", required: false },
    ],
    options: { account, ...(word === "approve" ? { notify } : {}), json },
    rpc: true,
    run: (cli, values, [channel, given]) =>
      cli.withClient(async (client) => {
        if (channel === undefined) throw commonErrors.usage({ message: `pairing ${word}: the id of a channel is required` });
        const code = given ?? onlyCode((await client.request("messaging.pairing.list", { channel })).requests, word);
        const params = { channel, code, ...(typeof values.account === "string" ? { accountId: values.account } : {}) };
        const decided =
          word === "approve"
            ? await client.request("messaging.pairing.approve", { ...params, ...(values.notify === true ? { notify: true } : {}) })
            : await client.request("messaging.pairing.reject", params);
        if (cli.json) cli.stdout.json(decided);
        else cli.stdout.line(`${describeSender(decided)}: ${texts.done}`);
        return 0;
      }),
  });
}

/** Without a code the only request is meant; with several somebody has to choose. */
function onlyCode(requests: Listed["requests"], word: string): string {
  const [first, ...others] = requests;
  if (first && others.length === 0) return first.code;
  const message = first
    ? `pairing ${word}: several people wait; name a code of svc pairing list`
    : `pairing ${word}: nobody waits on this channel`;
  throw commonErrors.usage({ message });
}

const revoke = defineCommand({
  path: ["pairing", "revoke"],
  summary: "Take an approval back",
  details: "The sender is a stranger to the account again: their next direct message is answered with a new code.",
  positionals: [
    { name: "channel", required: true },
    { name: "sender", required: true },
  ],
  options: { account: { ...account, description: "Account (default: the one the sender is paired with)" }, json },
  rpc: true,
  run: (cli, values, [channel = "", senderId = ""]) =>
    cli.withClient(async (client) => {
      const params = { channel, senderId, ...(typeof values.account === "string" ? { accountId: values.account } : {}) };
      const revoked = await client.request("messaging.pairing.revoke", params);
      if (cli.json) cli.stdout.json(revoked);
      else cli.stdout.line(`${describeSender(revoked)}: may not write any more.`);
      return 0;
    }),
});

export default [
  list,
  revoke,
  decideCommand("approve", { summary: "Let somebody write to an account", done: "may write direct messages now." }),
  decideCommand("reject", { summary: "Reject somebody who waits", done: "rejected." }),
];
