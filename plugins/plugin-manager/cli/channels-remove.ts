import { commonErrors, defineCommand, isRecord } from "svc/sdk";
import { withLive } from "./live.ts";

/** `svc channels remove <id>`: its section, or one account of it, is taken out of the config. */
export default defineCommand({
  path: ["channels", "remove"],
  summary: "Take a channel, or one of its accounts, out of the config",
  details: [
    "A running gateway ends the accounts at once. Messages that wait for them expire, who was let in by pairing stays so, and installed packages stay. A sign-in",
    "of its own is cleared by: svc channels logout.",
  ].join("\n"),
  examples: [
    ["No IRC any more", "svc channels remove irc"],
    ["One account less", "svc channels remove irc --account work"],
  ],
  options: {
    account: { kind: "string", description: "Only this account, below accounts (default: the whole channel)", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  positionals: [{ name: "channel", required: true }],
  rpc: true,
  run: async (cli, values, [channel = ""]) => {
    const account = typeof values.account === "string" ? values.account : undefined;
    const live = await withLive(cli, async (client) => {
      const { parsed, hash } = await client.request("config.get", {});
      withoutChannel(parsed, channel, account);
      const patch = { channels: { [channel]: account === undefined ? null : { accounts: { [account]: null } } } };
      await client.request("config.patch", { raw: JSON.stringify(patch), baseHash: hash, note: `svc channels remove ${channel}` });
      return true;
    });
    if (!live) {
      const file = await cli.configFile();
      const apply = (source: unknown) => withoutChannel(source, channel, account);
      await file.write({ kind: "edit", apply }, { onWarning: (text) => cli.stderr.line(text) });
    }
    if (cli.json) cli.stdout.json({ ok: true, channel, ...(account === undefined ? {} : { accountId: account }) });
    else cli.stdout.line(`${channel}${account === undefined ? "" : `, account ${account}`}: taken out of the config.`);
    return 0;
  },
});

/**
 * The tree without a channel, or without one of its named accounts; everything else is the very same. Pure.
 * @throws {SvcError} `usage` when there is no such channel or account, or when the section itself would become an account
 */
export function withoutChannel(source: unknown, channel: string, account?: string): unknown {
  const root = asTree(source);
  const channels = asTree(root.channels);
  if (channel === "defaults" || !Object.hasOwn(channels, channel)) {
    const known = Object.keys(channels).filter((id) => id !== "defaults");
    throw refused(`the config has no channel "${channel}"; ${known.length > 0 ? `it has ${known.join(", ")}` : "it has none"}`);
  }
  const { [channel]: given, ...others } = channels;
  if (account === undefined) return { ...root, channels: others };
  const section = asTree(given);
  const accounts = asTree(section.accounts);
  if (!Object.hasOwn(accounts, account)) {
    throw refused(`channels.${channel} has no account "${account}" below accounts; the channel as a whole: svc channels remove ${channel}`);
  }
  const { [account]: _, ...left } = accounts;
  if (Object.keys(left).length === 0) {
    throw refused(
      `"${account}" is the last one below channels.${channel}.accounts; the channel as a whole: svc channels remove ${channel}`,
    );
  }
  return { ...root, channels: { ...channels, [channel]: { ...section, accounts: left } } };
}

function refused(reason: string): Error {
  return commonErrors.usage({ message: `channels remove: ${reason}` });
}

function asTree(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
