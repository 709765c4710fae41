import { methodOf, type PluginContext } from "svc/sdk";
import type { UsageCounter, UsageRow } from "./counter.ts";
import { createDays } from "./days.ts";
import { usageMethods } from "./protocol-methods.ts";
import { nothing, shownTotals, sum, type Totals } from "./totals.ts";

const DEFAULT_DAYS = 30;
const DEFAULT_SESSIONS = 50;

/** Registers `usage.summary` and `usage.sessions`. */
export function registerUsageMethods(ctx: PluginContext<unknown>, counter: Pick<UsageCounter, "rows">): void {
  const calendar = createDays();
  ctx.registerRpc({
    ...methodOf(usageMethods, "usage.summary"),
    async handler({ days = DEFAULT_DAYS, by = "day", agentId }) {
      const [to = "", ...earlier] = calendar.upTo(ctx.clock.now(), days);
      const from = earlier.at(-1) ?? to;
      const rows = (await counter.rows(days)).filter((row) => agentId === undefined || row.agentId === agentId);
      return { from, to, by, ...summed(rows, by) };
    },
  });
  ctx.registerRpc({
    ...methodOf(usageMethods, "usage.sessions"),
    async handler({ limit = DEFAULT_SESSIONS, agentId }) {
      const query = { limit, sortBy: "updatedAt" as const, ...(agentId === undefined ? {} : { agentId }) };
      const { rows } = await ctx.service("store@2").sessions.list(query);
      return {
        sessions: rows.map(({ key, label, derivedTitle, inputTokens, outputTokens, totalTokens, costNanos }) => {
          const title = label ?? derivedTitle;
          return {
            key,
            ...(title === undefined ? {} : { title }),
            input: inputTokens,
            output: outputTokens,
            context: totalTokens,
            ...(costNanos === undefined ? {} : { costUsd: costNanos / 1_000_000_000 }),
          };
        }),
      };
    },
  });
}

/** Rows of one name added up; days in their order, agents and models by what they used. */
function summed(rows: readonly UsageRow[], by: "day" | "agent" | "model") {
  const names = new Map<string, Totals>();
  for (const { day, agentId, model, totals } of rows) {
    const name = { day, agent: agentId, model: model === "" ? "none" : model }[by];
    names.set(name, sum(names.get(name) ?? nothing, { ...nothing, ...totals }));
  }
  const used = ({ input, output }: Totals) => input + output;
  const ordered = [...names].sort(([a, x], [b, y]) => (by === "day" ? (a < b ? -1 : 1) : used(y) - used(x)));
  return {
    rows: ordered.map(([name, totals]) => ({ name, ...shownTotals(totals) })),
    total: shownTotals([...names.values()].reduce(sum, nothing)),
  };
}
