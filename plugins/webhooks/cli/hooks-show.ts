import { type CliContext, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { localTime, plural, reasonOf, stateWords } from "./text.ts";

/** `svc hooks show <uid>`: everything about one delivery. */
export default defineCommand({
  path: ["hooks", "show"],
  summary: "Show one delivery: its steps, attempts and result",
  details:
    "The text of the action is external content and shown only with --payload, as long as it is kept: until it is done, and 7 days after it failed.",
  examples: [["With its text", "svc hooks show 5b7d… --payload"]],
  positionals: [{ name: "uid", required: true }],
  options: {
    payload: { kind: "flag", description: "Include the text of the action" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values, [uid = ""]) => {
    const payload = values.payload === true;
    const shown = await cli.withClient((client) => client.request("webhooks.show", { uid, ...(payload ? { payload } : {}) }));
    if (cli.json) cli.stdout.json({ ok: true, ...shown });
    else print(cli, shown, payload);
    return 0;
  },
});

function print(cli: CliContext, { delivery, action }: ResultOf<"webhooks.show">, wantsPayload: boolean): void {
  const { stdout } = cli;
  const { uid, kind, path, mapping, name, agentId, lane, attempt, createdAt, updatedAt, expiresAt, notBefore, steps } = delivery;
  const hasEnded = ["done", "failed", "expired"].includes(delivery.state);
  const rows: Array<[string, string | undefined]> = [
    ["State", `${stateWords(delivery)}, ${plural(attempt, "try").replace("trys", "tries")}`],
    ["Why", reasonOf(delivery)],
    ["Path", mapping === undefined ? path : `${path} (mapping ${mapping})`],
    ["Does", kind === "wake" ? "wakes the main session" : "runs the agent"],
    ["Name", name],
    ["Agent", agentId],
    ["Session", lane],
    ["Accepted", localTime(createdAt)],
    ["Changed", localTime(updatedAt)],
    ["Next try", notBefore === undefined || hasEnded ? undefined : localTime(notBefore)],
    ["Expires", hasEnded ? undefined : localTime(expiresAt)],
    ...Object.entries(steps).map(([step, value]): [string, string] => [`Step ${step}`, JSON.stringify(value)]),
  ];
  stdout.line(cli.color.bold(uid));
  for (const [title, value] of rows) if (value !== undefined) stdout.line(`  ${title.padEnd(14)} ${printableLine(value)}`);
  if (!wantsPayload) return;
  if (!action) return stdout.line("  The text is not kept any more.");
  const { message, ...rest } = action;
  for (const [field, value] of Object.entries(rest))
    stdout.line(`  ${field.padEnd(14)} ${printableLine(typeof value === "string" ? value : JSON.stringify(value))}`);
  stdout.line();
  stdout.line(String(message));
}
