import { type Channel, type CliContext, isRecord, type SvcConfig } from "svc/sdk";

/** An account as a config has it, without a gateway. */
export interface ConfiguredAccount {
  channel: string;
  accountId: string;
  enabled: boolean;
  /** Keys that the channel needs; unset where its plugin could not be asked. */
  missing?: string[];
}

/** Accounts of the config. Which ones a section means only its plugin knows, so it is asked in this process; no account is started. */
export async function configuredAccounts(cli: CliContext): Promise<ConfiguredAccount[]> {
  const { config, valid } = await cli.config();
  const sections = sectionsOf(config);
  const bringers = (await cli.candidates()).filter(
    ({ manifest, problem }) => !problem && manifest?.contributes?.channels?.some((id) => sections.has(id)),
  );
  if (!valid || bringers.length === 0) return [...sections].flatMap(([channel, section]) => writtenAccounts(channel, section));
  const local = await cli.local(bringers.map(({ id }) => id)).catch(() => undefined);
  if (!local) return [...sections].flatMap(([channel, section]) => writtenAccounts(channel, section));
  try {
    const view = local.contributions<Channel>("channel");
    const found: ConfiguredAccount[] = [];
    for (const [id, section] of sections) {
      await view.ready(id);
      found.push(...(askedAccounts(view.get(id)?.value, config as unknown as SvcConfig) ?? writtenAccounts(id, section)));
    }
    return found;
  } finally {
    await local.close();
  }
}

/** The accounts that a channel finds; undefined for one that is not here or cannot read its section. */
function askedAccounts(channel: Channel | undefined, config: SvcConfig): ConfiguredAccount[] | undefined {
  try {
    return channel?.config.list(config).map((accountId) => {
      const { enabled, missing } = channel.config.inspect(config, accountId);
      return { channel: channel.id, accountId, enabled, missing };
    });
  } catch {
    return undefined;
  }
}

/** Accounts by the file alone: those below `accounts`, or the section itself where it has none. */
export function writtenAccounts(channel: string, section: Record<string, unknown>): ConfiguredAccount[] {
  const isOn = section.enabled !== false;
  const accounts = isRecord(section.accounts) ? Object.entries(section.accounts) : [];
  if (accounts.length === 0) return [{ channel, accountId: "default", enabled: isOn }];
  return accounts.map(([accountId, own]) => ({ channel, accountId, enabled: isOn && !(isRecord(own) && own.enabled === false) }));
}

function sectionsOf(config: unknown): Map<string, Record<string, unknown>> {
  const channels = isRecord(config) && isRecord(config.channels) ? config.channels : {};
  const sections = Object.entries(channels).filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]));
  return new Map(sections.filter(([channel]) => channel !== "defaults"));
}
