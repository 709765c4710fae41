import { type GatewayService, messageOf, type PluginContext, type SessionRow, settledWithin } from "svc/sdk";

/** Sessions that are told of at a stop; the ones used longest ago are forgotten first. */
const MAX_OPEN = 1_000;
/** All taps together have this long when the gateway stops. */
const SHUTDOWN_MS = 2_000;

type EndReason = "new" | "reset" | "daily" | "idle" | "deleted";
type Ids = Pick<SessionRow, "agentId" | "sessionId"> & { sessionKey: string };

/** Tells plugins of transcripts that take no more messages (`session.end`). */
export interface SessionEnds {
  /** A session was used in this process. */
  used(ids: Ids): void;
  ended(ids: Ids, reason: EndReason): void;
  /** The gateway stops: once the runs have settled, or shortly before the stop goes on, everybody hears of the sessions used here. */
  shutdown(runs: readonly Promise<unknown>[], stop: { deadlineMs: number; gateway: Pick<GatewayService, "hold"> }): void;
}

export function createSessionEnds(ctx: Pick<PluginContext, "isHookUsed" | "runHook" | "logger">): SessionEnds {
  const open = new Map<string, Ids>();
  const tell = async (ids: Ids, reason: EndReason | "shutdown", signal?: AbortSignal) => {
    if (!ctx.isHookUsed("session.end")) return;
    const { sessionKey, agentId, sessionId } = ids;
    const meta = { sessionKey, agentId, ...(signal ? { signal } : {}) };
    await ctx
      .runHook("session.end", { sessionKey, agentId, sessionId, reason }, meta)
      .catch((error: unknown) => ctx.logger.warn("hook session.end failed", { error: messageOf(error) }));
  };
  return {
    used(ids) {
      open.delete(ids.sessionKey);
      open.set(ids.sessionKey, ids);
      const [oldest] = open.keys();
      if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest);
    },
    ended(ids, reason) {
      if (open.get(ids.sessionKey)?.sessionId === ids.sessionId) open.delete(ids.sessionKey);
      void tell(ids, reason);
    },
    shutdown(runs, { deadlineMs, gateway }) {
      if (!ctx.isHookUsed("session.end") || open.size === 0) return;
      const hold = gateway.hold("session.end");
      void (async () => {
        await settledWithin(Promise.allSettled(runs), Math.max(0, deadlineMs - SHUTDOWN_MS));
        const limit = new AbortController();
        await settledWithin(Promise.all([...open.values()].map((ids) => tell(ids, "shutdown", limit.signal))), SHUTDOWN_MS);
        limit.abort();
        await hold.dispose();
      })();
    },
  };
}
