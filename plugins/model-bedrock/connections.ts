import type { BedrockConnection, PluginContext } from "svc/sdk";
import type { ProviderSettings } from "svc/sdk/internal";

/** Connections to Bedrock, one for each provider in use. */
export interface Connections {
  /** The connection of these settings; an earlier one of the same provider ends when its turns have. */
  of(settings: ProviderSettings): Pick<BedrockConnection, "converse">;
  close(): Promise<void>;
}

interface Open {
  settings: ProviderSettings;
  connection: Promise<BedrockConnection>;
  turns: number;
  isReplaced: boolean;
  /** A turn failed, perhaps because the plugin of the AWS client went away. */
  isDoubtful: boolean;
}

/** A pause that the thread grants beyond the run's own limit, so that the run's is reached first. */
const GRACE_MS = 60_000;

export function createConnections(ctx: Pick<PluginContext, "service" | "logger">): Connections {
  const current = new Map<string, Open>();
  const all = new Set<Open>();
  const end = async (one: Open) => {
    all.delete(one);
    // One that could not be opened, or whose plugin went away, has nothing to close.
    await one.connection.then((connection) => connection.close()).catch(() => undefined);
  };
  const replace = (old: Open | undefined, settings: ProviderSettings): Open => {
    const next: Open = { settings, connection: open(ctx, settings), turns: 0, isReplaced: false, isDoubtful: false };
    next.connection.catch(() => undefined);
    all.add(next);
    current.set(settings.id, next);
    // Only when the next one is open: equal settings go on with the same thread.
    if (old) old.isReplaced = true;
    if (old?.turns === 0)
      void next.connection.then(
        () => end(old),
        () => end(old),
      );
    return next;
  };
  return {
    of: (settings) => ({
      converse(input, signal) {
        const existing = current.get(settings.id);
        const isUsable = existing?.settings === settings && !existing.isDoubtful;
        return converse(isUsable ? existing : replace(existing, settings), { input, signal, end });
      },
    }),
    async close() {
      current.clear();
      await Promise.all([...all].map(end));
    },
  };
}

type Turn = { input: Parameters<BedrockConnection["converse"]>[0]; signal: AbortSignal; end(one: Open): Promise<void> };

async function* converse(one: Open, { input, signal, end }: Turn): ReturnType<BedrockConnection["converse"]> {
  one.turns++;
  try {
    yield* (await one.connection).converse(input, signal);
  } catch (error) {
    one.isDoubtful = !signal.aborted;
    throw error;
  } finally {
    if (--one.turns === 0 && one.isReplaced) void end(one);
  }
}

/** The plugin of the AWS client is loaded now, if nobody needed it before. */
async function open(ctx: Pick<PluginContext, "service" | "logger">, settings: ProviderSettings): Promise<BedrockConnection> {
  const { baseUrl, vendor, timeoutMs } = settings;
  const { authorization, ...headers } = settings.headers;
  // A signature would take the place of the header.
  const apiKey = settings.apiKey ?? /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  return await ctx.service("bedrock@1").open({
    // The region's own address is the client's to choose: it knows those of other partitions.
    ...(baseUrl === vendor?.baseUrl ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    headers,
    silenceMs: timeoutMs + GRACE_MS,
    logger: ctx.logger,
  });
}
