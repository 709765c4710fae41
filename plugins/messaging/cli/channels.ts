import { type CliCommand, type CliContext, type CliValues, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { configuredAccounts } from "./offline.ts";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const account = { kind: "string", description: "Account (default: the default account of the channel)", placeholder: "id" } as const;
const channelArgument = [{ name: "channel", required: true }] as const;

type Status = ResultOf<"channels.status">;
type Row = Status["channelAccounts"][string][number];

const list = defineCommand({
  path: ["channels", "list"],
  summary: "List channels and their accounts",
  details: "Without a running gateway the config is shown.",
  options: { json },
  rpc: true,
  run: (cli, values) => show(cli, values, {}),
});

const status = defineCommand({
  path: ["channels", "status"],
  summary: "Show how the accounts of channels are",
  details:
    "With --probe each platform is asked whether credentials and rights are good; no message is sent. Without a running gateway the config is shown.",
  examples: [["Are the credentials good?", "svc channels status --probe"]],
  options: { probe: { kind: "flag", description: "Ask each platform" }, json },
  rpc: true,
  run: (cli, values) => show(cli, values, values.probe === true ? { probe: true } : {}),
});

async function show(cli: CliContext, values: CliValues, params: { probe?: true }): Promise<number> {
  // With an address that is named it is asked in any case.
  if (typeof values.url === "string" || (await cli.lockOwner()) !== undefined) {
    const live = await cli.withClient((client) => client.request("channels.status", params));
    if (cli.json) cli.stdout.json({ ok: true, source: "gateway", ...live });
    else printStatus(cli, live);
    return 0;
  }
  const accounts = await configuredAccounts(cli);
  if (cli.json) {
    cli.stdout.json({ ok: true, source: "config", accounts });
    return 0;
  }
  cli.stderr.line("Gateway not reachable — showing config only.");
  if (accounts.length === 0) cli.stdout.line("No channel is configured.");
  else
    cli.stdout.table(
      ["CHANNEL", "ACCOUNT", "ENABLED", "MISSING"],
      accounts.map(({ channel, accountId, enabled, missing }) =>
        [channel, accountId, enabled ? "yes" : "no", missing?.join(", ") ?? ""].map(printableLine),
      ),
    );
  return 0;
}

function printStatus(cli: CliContext, { channelOrder, channels, channelAccounts }: Status): void {
  const rows = channelOrder.flatMap((id) => (channelAccounts[id] ?? []).map((one) => statusRow(id, one)));
  const broken = channelOrder.filter((id) => channels[id]?.error !== undefined);
  if (rows.length > 0) cli.stdout.table(["CHANNEL", "ACCOUNT", "STATE", "IDENTITY", "DM", "QUEUE", "PROBE", "LAST ERROR"], rows);
  else if (broken.length === 0) cli.stdout.line("No channel is configured.");
  for (const id of channelOrder) {
    for (const { accountId, audit = [] } of channelAccounts[id] ?? []) {
      for (const { ok, message } of audit) if (!ok) cli.stdout.line(printableLine(`${id}, account ${accountId}: ${message}`));
    }
  }
  for (const id of broken) cli.stderr.line(cli.color.yellow(`${id}: ${printableLine(channels[id]?.error ?? "")}`));
}

/** One row of the table; what a platform says of itself is not trusted with the terminal. */
export function statusRow(
  channel: string,
  { accountId, enabled, configured, missing, lifecycle, stoppedByHand, identity, dmPolicy, queueDepth, probe, lastError }: Row,
): string[] {
  const state = !enabled
    ? "disabled"
    : !configured
      ? `incomplete: ${(missing ?? []).join(", ")}`
      : stoppedByHand
        ? "stopped by hand"
        : lifecycle;
  const probed = probe === undefined ? "–" : probe.ok ? `ok (${probe.ms} ms)` : `failed: ${probe.error ?? "no reason"}`;
  const shown = lifecycle === "ready" ? "" : (lastError ?? "");
  return [channel, accountId, state, identity ?? "–", dmPolicy, String(queueDepth), probed, shown].map(printableLine);
}

function changeCommand(word: "start" | "stop", summary: string): CliCommand {
  return defineCommand({
    path: ["channels", word],
    summary,
    positionals: channelArgument,
    options: { account, json },
    rpc: true,
    run: (cli, values, [channel]) =>
      cli.withClient(async (client) => {
        if (channel === undefined) throw commonErrors.usage({ message: `channels ${word}: the id of a channel is required` });
        const params = { channel, ...(typeof values.account === "string" ? { accountId: values.account } : {}) };
        const { accountId } = await client.request(`channels.${word}`, params);
        if (cli.json) cli.stdout.json({ ok: true, channel, accountId });
        else
          cli.stdout.line(
            word === "start"
              ? `${channel}, account ${accountId}: starting; see svc channels status`
              : `${channel}, account ${accountId}: stopped.`,
          );
        return 0;
      }),
  });
}

export default [
  list,
  status,
  changeCommand("start", "Start an account that was stopped or is blocked"),
  changeCommand("stop", "Stop an account until it is started again"),
];
