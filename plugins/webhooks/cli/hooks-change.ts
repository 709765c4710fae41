import { type CliCommand, defineCommand } from "svc/sdk";

/** `svc hooks retry|drop <uid>`. */
export default [
  command("retry", {
    summary: "Retry a delivery that failed or expired",
    details:
      "It gets a fresh set of attempts and another 24 hours. Work that its agent has already done is not undone and may happen twice.",
    done: "is in the queue again; svc hooks show tells what becomes of it",
  }),
  command("drop", {
    summary: "Drop a delivery that is waiting",
    details: "It ends as failed, with a note in the agent's main session. One that is running is stopped in the chat of its session.",
    done: "was dropped; a note says so",
  }),
];

function command(word: "retry" | "drop", { summary, details, done }: { summary: string; details: string; done: string }): CliCommand {
  return defineCommand({
    path: ["hooks", word],
    summary,
    details,
    positionals: [{ name: "uid", required: true }],
    options: { json: { kind: "flag", description: "One JSON document on stdout" } },
    rpc: true,
    run: async (cli, _values, [uid = ""]) => {
      const answer = await cli.withClient((client) => client.request(`webhooks.${word}`, { uid }));
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(`${answer.uid} ${done}.`);
      return 0;
    },
  });
}
