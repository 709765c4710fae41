import { type CliCommand, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const uidArgument = [{ name: "uid", required: true }] as const;

type Answer = ResultOf<"messaging.queue.list">;

const list = defineCommand({
  path: ["channels", "queue", "list"],
  summary: "List messages waiting for a channel, and undelivered ones",
  options: {
    all: { kind: "flag", description: "Include delivered messages" },
    limit: { kind: "integer", description: "At most this many (default 100)", min: 1, max: 1000, placeholder: "n" },
    json,
  },
  rpc: true,
  run: (cli, values) =>
    cli.withClient(async (client) => {
      const limit = typeof values.limit === "number" ? { limit: values.limit } : {};
      const answer = await client.request("messaging.queue.list", { ...(values.all === true ? { all: true } : {}), ...limit });
      if (cli.json) cli.stdout.json(answer);
      else if (answer.messages.length === 0) cli.stdout.line("No messages.");
      else for (const message of answer.messages) cli.stdout.line(describeMessage(message));
      return 0;
    }),
});

/** `failed  irc:default:#room  uid  3 tries  2026-03-01 12:03  not a member` */
export function describeMessage({ state, lane, uid, attempt, createdAt, reason }: Answer["messages"][number]): string {
  const tries = attempt === 1 ? "1 try" : `${attempt} tries`;
  return [state.padEnd(9), lane, uid, tries, localTime(createdAt), ...(reason === undefined ? [] : [reason])].map(printableLine).join("  ");
}

function changeCommand(word: "retry" | "drop", texts: { summary: string; done: string }): CliCommand {
  return defineCommand({
    path: ["channels", "queue", word],
    summary: texts.summary,
    positionals: uidArgument,
    options: { json },
    rpc: true,
    run: (cli, _values, [uid]) =>
      cli.withClient(async (client) => {
        if (uid === undefined) throw commonErrors.usage({ message: `channels queue ${word}: the id of a message is required` });
        const answer = await client.request(`messaging.queue.${word}`, { uid });
        if (cli.json) cli.stdout.json(answer);
        else cli.stdout.line(`${answer.uid}: ${texts.done}`);
        return 0;
      }),
  });
}

export default [
  list,
  changeCommand("retry", { summary: "Send a message again now", done: "waits for its next try." }),
  changeCommand("drop", { summary: "Drop a message that is waiting", done: "dropped." }),
];

function localTime(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}
