import { type Agents, isRecord, messageOf, type PluginContext, type Store } from "svc/sdk";
import { CRON_SCOPE, createExpiryClock } from "svc/sdk/internal";

const SWEEP_MS = 600_000;

interface Deps {
  ctx: PluginContext;
  store: () => Pick<Store, "kv" | "commit">;
  agents: () => Pick<Agents, "forget">;
  /** `cron.sessionRetention` in ms; 0: sessions of runs stay as long as others. */
  keptMs(): number;
}

/** Removes the sessions of runs once they are old; one that a person has named, pinned or gone on with stays. */
export function createRetention({ ctx, store, agents, keptMs }: Deps): { sweep(): Promise<void> } {
  const expiry = createExpiryClock(ctx.clock);
  let isSweeping = false;
  const sweep = async () => {
    const now = expiry.read();
    if (isSweeping || now === undefined || keptMs() === 0) return;
    isSweeping = true;
    try {
      // The oldest come first; what is left over waits for the next sweep.
      for (const { key, value } of await store().kv.list(CRON_SCOPE, "session/")) {
        if (ctx.signal.aborted || Number(key.split("/")[1]) + keptMs() > now) break;
        if (isSession(value)) await agents().forget({ runId: value.runId, sessionKey: value.key, sessionId: value.sessionId });
        await store().commit([{ op: "kv.delete", scope: CRON_SCOPE, key }]);
      }
    } catch (error) {
      ctx.logger.debug("cron: sessions of runs are removed later", { error: messageOf(error) });
    } finally {
      isSweeping = false;
    }
  };
  ctx.timers.setInterval(() => void sweep(), SWEEP_MS);
  return { sweep };
}

function isSession(value: unknown): value is { key: string; sessionId: string; runId: string } {
  return isRecord(value) && typeof value.key === "string" && typeof value.sessionId === "string" && typeof value.runId === "string";
}
