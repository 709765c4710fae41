import { type Clock, cutEnd, messageOf, type PluginContext, type RunOrigin, type ToolRefusal } from "svc/sdk";

/** Refused calls that are told of, of one run or in one minute: who guesses names must not fill a log. */
export const MAX_TOLD = 20;
/** Longest name in such a report: it is any text that a model or a client wrote. */
const MAX_NAME_CHARS = 64;
const MINUTE_MS = 60_000;

export interface Refusal {
  runId: string;
  agentId: string;
  sessionKey: string;
  tool: string;
  origin: RunOrigin;
  reason: ToolRefusal;
}

/**
 * Tells the plugins that listen of a call that may not be made, without its arguments; nobody waits for them.
 * @param nth its place among those of its run or minute, from 1; those beyond the twentieth are not told of
 */
export function tellRefused(ctx: PluginContext, { tool, origin, reason, ...ids }: Refusal, nth: number): void {
  if (nth > MAX_TOLD) return;
  const { logger } = ctx;
  const name = cutEnd(tool, MAX_NAME_CHARS);
  logger.debug("a call of a tool was refused", () => ({ ...ids, tool: name, reason }));
  if (!ctx.isHookUsed("tool.refused")) return;
  const event = { ...ids, tool: name, origin, reason, ...(nth === MAX_TOLD ? { isLast: true as const } : {}) };
  ctx.runHook("tool.refused", event, ids).catch((error) => logger.warn("hook tool.refused failed", { error: messageOf(error) }));
}

/** Counts the refused calls of clients, which belong to no run, by the minute. */
export class RefusalCount {
  readonly #clock: Pick<Clock, "monotonic">;
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Counts one. @returns its place in its minute, from 1 */
  next(): number {
    const now = this.#clock.monotonic();
    if (now - this.#since >= MINUTE_MS) [this.#since, this.#count] = [now, 0];
    this.#count += 1;
    return this.#count;
  }
}
