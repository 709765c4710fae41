import { type CliContext, defineCommand, type ResultOf } from "svc/sdk";
import { formatTime } from "./text.ts";

type Entry = ResultOf<"system-presence">[number];

/** `svc system presence`: the gateway first, then whoever was heard of last. */
export default defineCommand({
  path: ["system", "presence"],
  summary: "List clients that are connected or sent a beacon in the last five minutes",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const entries = await cli.withClient((client) => client.request("system-presence", {}));
    if (cli.json) cli.stdout.json(entries);
    else print(cli, entries);
    return 0;
  },
});

function print(cli: CliContext, entries: readonly Entry[]): void {
  cli.stdout.table(["SEEN", "WHO", "ADDRESS", "MODE", "VERSION", "REASON"], entries.map(presenceCells));
}

/** One row; what is not known is a dash. */
export function presenceCells(entry: Entry): string[] {
  const { ts, host, clientId, deviceId, text, ip, mode, version, reason } = entry;
  return [formatTime(ts), host ?? clientId ?? deviceId ?? text, ip, mode, version, reason].map((cell) => cell || "-");
}
