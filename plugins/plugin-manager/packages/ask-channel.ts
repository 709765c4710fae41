import type { Channel, CliContext, JsonObject, PluginCandidate, SvcConfig } from "svc/sdk";

/**
 * Keys that an account of a channel lacks, by the channel's own word; its code runs in this process, and no account is started. Undefined where it cannot be asked:
 * beside a running gateway, which holds the state, or when it does not load.
 */
export async function askChannel(
  cli: CliContext,
  { id, problem }: PluginCandidate,
  { channel, config }: { channel: string; config: JsonObject | undefined },
): Promise<string[] | undefined> {
  if (problem || !config || (await cli.lockOwner()) !== undefined) return undefined;
  const local = await cli.local([id]).catch(() => undefined);
  if (!local) return undefined;
  try {
    const view = local.contributions<Channel>("channel");
    await view.ready(channel);
    const { list, inspect } = view.get(channel)?.value.config ?? {};
    const effective = config as unknown as SvcConfig;
    return inspect?.(effective, list?.(effective)[0] ?? "default").missing;
  } catch {
    return undefined; // a section that it cannot read is a matter of svc config validate
  } finally {
    await local.close();
  }
}
