import type { BedrockConnection, PluginContext } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";

/** Connections to Bedrock, one for each provider in use. */
export interface Connections {
  /** The connection of these settings; earlier ones of the same provider end. */
  of(settings: ProviderSettings): Promise<BedrockConnection>;
  close(): Promise<void>;
}

/** A pause that the thread grants beyond the run's own limit, so that the run's is reached first. */
const GRACE_MS = 60_000;

export function createConnections(ctx: Pick<PluginContext, "service" | "logger">): Connections {
  const open = new Map<string, { settings: ProviderSettings; connection: Promise<BedrockConnection> }>();
  return {
    of(settings) {
      const existing = open.get(settings.id);
      if (existing?.settings === settings) return existing.connection;
      if (existing) void closed(existing.connection);
      const { baseUrl, vendor, apiKey, headers, timeoutMs } = settings;
      // The plugin of the AWS client is loaded now, if nobody needed it before.
      const connection = ctx.service("bedrock@1").open({
        // The region's own address is the client's to choose: it knows those of other partitions.
        ...(baseUrl === vendor?.baseUrl ? {} : { baseUrl }),
        ...(apiKey === undefined ? {} : { apiKey }),
        headers,
        silenceMs: timeoutMs + GRACE_MS,
        logger: ctx.logger,
      });
      open.set(settings.id, { settings, connection });
      connection.catch(() => {
        if (open.get(settings.id)?.connection === connection) open.delete(settings.id);
      });
      return connection;
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map(({ connection }) => closed(connection)));
    },
  };
}

/** One that could not be opened has nothing to close. */
async function closed(connection: Promise<BedrockConnection>): Promise<void> {
  const opened = await connection.catch(() => undefined);
  await opened?.close();
}
