import type { HealthPart } from "../../sdk/hooks.ts";
import type { Logger } from "../../sdk/types/common.ts";
import { type DescriptorFigures, SPARE_FOR_CONNECTION, SPARE_FOR_UPGRADE } from "./descriptor-budget.ts";

/** Connections that the gateway could not take, for its log and its health. */
export interface RefusedConnections {
  /** Counts one; a line about it is logged at once, then at most once a minute. */
  count(): void;
  part(): HealthPart;
  dispose(): void;
}

/** Limit below which a start is commented on; the usual one of systems. */
const RECOMMENDED_LIMIT = 1_024;
const LOG_MS = 60_000;
/** A refusal is a problem of health for this long. */
const RECENT_MS = 300_000;

/** Says what a limit of descriptors means for connections; undefined while it leaves enough. Pure. */
export function judgeDescriptors({ limit, open }: DescriptorFigures): { level: "warn" | "error"; message: string } | undefined {
  const spare = limit - open;
  const say = (effect: string) =>
    `descriptor limit: ${limit} may be open in this process and ${open} are, so ${effect}; raise it to ${RECOMMENDED_LIMIT} or more (ulimit -n, or LimitNOFILE= of the service) and start again`;
  if (spare < SPARE_FOR_CONNECTION) return { level: "error", message: say("every connection is refused") };
  if (spare < SPARE_FOR_UPGRADE) return { level: "error", message: say("WebSocket connections (the page, most commands) are refused") };
  if (limit < RECOMMENDED_LIMIT) return { level: "warn", message: say(`about ${spare - SPARE_FOR_UPGRADE} connections fit`) };
  return undefined;
}

export function createRefusedConnections(deps: {
  logger: Pick<Logger, "warn">;
  monotonic(): number;
  /** Undefined where the system does not say. */
  figures(): DescriptorFigures | undefined;
}): RefusedConnections {
  let total = 0;
  let unreported = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const problem = () => {
    const figures = deps.figures();
    const judged = figures && judgeDescriptors(figures);
    if (judged?.level === "error") return judged.message;
    if (deps.monotonic() - lastAt >= RECENT_MS) return undefined;
    return `connections were refused in the last minutes, because of a lack of ${figures ? `descriptors (${figures.limit} may be open) or ` : ""}room`;
  };
  const report = () => {
    timer = undefined;
    if (unreported === 0) return;
    deps.logger.warn(`${unreported === 1 ? "a connection was" : `${unreported} connections were`} refused`, { total, reason: problem() });
    unreported = 0;
    timer = setTimeout(report, LOG_MS);
    timer.unref();
  };
  return {
    count() {
      total += 1;
      unreported += 1;
      lastAt = deps.monotonic();
      if (!timer) report();
    },
    part() {
      const message = problem();
      const limit = deps.figures()?.limit;
      const value = { refused: total, ...(limit === undefined ? {} : { descriptorLimit: limit }) };
      return { part: "connections", ok: message === undefined, value, ...(message === undefined ? {} : { message }) };
    },
    dispose: () => clearTimeout(timer),
  };
}
