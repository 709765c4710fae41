import { type CliCommand, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
type Report = NonNullable<ResultOf<"last-heartbeat">>;

const event = defineCommand({
  path: ["system", "event"],
  summary: "Add an event for an agent",
  details:
    "It is read with the next prompt of the session, as a line that says that no person wrote it; with --mode now (default) at once.",
  examples: [
    ["Wake the default agent", 'svc system event --text "The backup has failed"'],
    ["Without hurry", 'svc system event --text "The parcel has come" --mode next-heartbeat'],
  ],
  options: {
    text: { kind: "string", description: "Text of the event", placeholder: "text" },
    mode: { kind: "string", description: "When the agent reads it (default now)", choices: ["now", "next-heartbeat"] },
    agent: { kind: "string", description: "Agent id", placeholder: "id" },
    "session-key": { kind: "string", description: "Session of the event; default: the agent's main session", placeholder: "key" },
    json,
  },
  rpc: true,
  run: async (cli, values) => {
    const { text, agent } = values;
    if (typeof text !== "string" || text.trim() === "") throw commonErrors.usage({ message: "system event: --text is required" });
    const answer = await cli.withClient((client) =>
      client.request("wake", {
        text,
        mode: values.mode === "next-heartbeat" ? "next-heartbeat" : "now",
        ...(typeof agent === "string" ? { agentId: agent } : {}),
        ...(typeof values["session-key"] === "string" ? { sessionKey: values["session-key"] } : {}),
      }),
    );
    if (cli.json) cli.stdout.json(answer);
    else
      cli.stdout.line(
        answer.eventOutcome === "coalesced" ? "Already queued: the same text is waiting to be read." : "Queued for the agent.",
      );
    return 0;
  },
});

const last = defineCommand({
  path: ["system", "heartbeat", "last"],
  summary: "Show how the latest heartbeat ended",
  options: { json },
  rpc: true,
  run: async (cli) => {
    const report = await cli.withClient((client) => client.request("last-heartbeat", {}));
    if (cli.json) cli.stdout.json(report);
    else cli.stdout.line(report ? describeReport(report) : "No heartbeat yet.");
    return 0;
  },
});

/** `2026-03-01 12:03  main  ok-token  (4s)  The door is shut.` */
export function describeReport({ ts, agentId, status, reason, durationMs, preview }: Report): string {
  const why = reason === undefined ? status : `${status}: ${reason}`;
  const took = durationMs === undefined ? [] : [`(${(durationMs / 1_000).toFixed(1)}s)`];
  return [localTime(ts), ...(agentId === undefined ? [] : [agentId]), why, ...took, ...(preview === undefined ? [] : [preview])]
    .map(printableLine)
    .join("  ");
}

function switchCommand(word: "enable" | "disable"): CliCommand {
  return defineCommand({
    path: ["system", "heartbeat", word],
    summary: word === "enable" ? "Switch heartbeats on again" : "Switch all heartbeats off until the gateway ends",
    options: { json },
    rpc: true,
    run: async (cli) => {
      const answer = await cli.withClient((client) => client.request("set-heartbeats", { enabled: word === "enable" }));
      if (cli.json) cli.stdout.json(answer);
      else cli.stdout.line(answer.enabled ? "Heartbeats are on." : "Heartbeats are off until the gateway ends or they are enabled.");
      return 0;
    },
  });
}

export default [event, last, switchCommand("enable"), switchCommand("disable")];

function localTime(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}
