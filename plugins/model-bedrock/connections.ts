import type { BedrockConnection, PluginContext } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";

/** Connections to Bedrock, one for each provider in use. */
export interface Connections {
  /** The connection of these settings; earlier ones of the same provider end. */
  of(settings: ProviderSettings): BedrockConnection;
  close(): Promise<void>;
}

/** A pause that the thread grants beyond the run's own limit, so that the run's is reached first. */
const GRACE_MS = 60_000;

export function createConnections(ctx: Pick<PluginContext, "service" | "logger">): Connections {
  const open = new Map<string, { settings: ProviderSettings; connection: BedrockConnection }>();
  return {
    of(settings) {
      const existing = open.get(settings.id);
      if (existing?.settings === settings) return existing.connection;
      void existing?.connection.close();
      const { baseUrl, vendor, apiKey, headers, timeoutMs } = settings;
      const connection = ctx.service("bedrock@1").open({
        // The region's own address is the client's to choose: it knows those of other partitions.
        ...(baseUrl === vendor?.baseUrl ? {} : { baseUrl }),
        ...(apiKey === undefined ? {} : { apiKey }),
        headers,
        silenceMs: timeoutMs + GRACE_MS,
        logger: ctx.logger,
      });
      open.set(settings.id, { settings, connection });
      return connection;
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map(({ connection }) => connection.close()));
    },
  };
}
