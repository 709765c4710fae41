import { type CliCommand, type CliContext, type CliValues, commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";
import { configuredAccounts } from "./offline.ts";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const account = { kind: "string", description: "Account (default: the default account of the channel)", placeholder: "id" } as const;
const channelArgument = [{ name: "channel", required: true }] as const;
const oneChannel = [{ name: "channel", required: false }] as const;

type Status = ResultOf<"channels.status">;
type Row = Status["channelAccounts"][string][number];

const list = defineCommand({
  path: ["channels", "list"],
  summary: "List channels and their accounts",
  details: "Without a running gateway the config is shown.",
  positionals: oneChannel,
  options: { json },
  rpc: true,
  run: (cli, values, [channel]) => show(cli, values, { channel }),
});

const status = defineCommand({
  path: ["channels", "status"],
  summary: "Show how the accounts of channels are",
  details:
    "With --probe each platform is asked whether credentials and rights are good; no message is sent. Without a running gateway the config is shown.",
  examples: [["Are the credentials good?", "svc channels status --probe"]],
  positionals: oneChannel,
  options: { probe: { kind: "flag", description: "Ask each platform" }, json },
  rpc: true,
  run: (cli, values, [channel]) => show(cli, values, { channel, probe: values.probe === true }),
});

interface Wish {
  /** Undefined: all. */
  channel: string | undefined;
  probe?: boolean;
}

async function show(cli: CliContext, values: CliValues, { channel, probe = false }: Wish): Promise<number> {
  const params = { ...(probe ? { probe } : {}), ...(channel === undefined ? {} : { channel }) };
  // With an address that is named it is asked in any case.
  if (typeof values.url === "string" || (await hasGateway(cli))) {
    const live = await cli.withClient((client) => client.request("channels.status", params));
    if (cli.json) cli.stdout.json({ ok: true, source: "gateway", ...live });
    else printStatus(cli, live, channel);
    return 0;
  }
  const accounts = (await configuredAccounts(cli)).filter((one) => channel === undefined || one.channel === channel);
  if (cli.json) {
    cli.stdout.json({ ok: true, source: "config", accounts });
    return 0;
  }
  cli.stderr.line("Gateway not reachable — showing config only.");
  if (accounts.length === 0) cli.stdout.line(nothing(channel));
  else
    cli.stdout.table(
      ["CHANNEL", "ACCOUNT", "ENABLED", "MISSING"],
      accounts.map(({ channel, accountId, enabled, missing }) =>
        [channel, accountId, enabled ? "yes" : "no", missing?.join(", ") ?? ""].map(printableLine),
      ),
    );
  return 0;
}

const nothing = (channel: string | undefined) =>
  channel === undefined ? "No channel is configured." : `No channel "${printableLine(channel)}" is configured.`;

function printStatus(cli: CliContext, { channelOrder, channels, channelAccounts }: Status, channel: string | undefined): void {
  const rows = channelOrder.flatMap((id) => (channelAccounts[id] ?? []).map((one) => statusRow(id, one)));
  const broken = channelOrder.filter((id) => channels[id]?.error !== undefined);
  if (rows.length > 0) cli.stdout.table(["CHANNEL", "ACCOUNT", "STATE", "IDENTITY", "DM", "QUEUE", "PROBE", "LAST ERROR"], rows);
  else if (broken.length === 0) cli.stdout.line(nothing(channel));
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
