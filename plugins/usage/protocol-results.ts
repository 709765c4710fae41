import { z } from "svc/sdk";

const text = z.string();
const count = z.number().int().min(0);
const totals = {
  runs: count,
  replays: count.describe("runs that were asked again of another model (`runs.replay`); none of `runs`"),
  errors: count,
  input: count.describe("tokens of prompts, without those of the vendor's cache"),
  output: count,
  cacheRead: count,
  cacheWrite: count,
  costUsd: z.number().exactOptional().describe("absent where no price is known"),
  unpriced: count.describe("runs and replays with tokens whose price is not known"),
};

/** Payloads of the answers; for documents, types and tests: the running plugin never loads them. */
export const usageResults = {
  "usage.summary": z.object({
    from: text.describe("first local day, as 2026-11-28"),
    to: text,
    by: z.enum(["day", "agent", "model"]),
    rows: z.array(z.object({ name: text, ...totals })),
    total: z.object(totals),
  }),
  "usage.sessions": z.object({
    sessions: z.array(
      z.object({
        key: text,
        title: text.exactOptional(),
        input: count,
        output: count,
        context: count.describe("tokens of the last request and its answer"),
        costUsd: z.number().exactOptional(),
      }),
    ),
  }),
};
