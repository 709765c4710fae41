import { methodSpec, z } from "svc/sdk";
import { cronJobFields, idText } from "svc/sdk/internal";

const id = idText(64);
const byId = z.strictObject({ id });
const page = { limit: z.number().int().min(1).max(200).optional(), offset: z.number().int().min(0).max(1_000_000).optional() };
const { agentId, delivery } = cronJobFields;

/** Methods of the protocol that this plugin serves. */
export const cronMethods = {
  "cron.status": methodSpec("read", "whether jobs are run, how many there are, and when the next is due", z.strictObject({})),
  "cron.list": methodSpec(
    "read",
    "jobs, those that are switched off only with `includeDisabled`",
    z.strictObject({
      includeDisabled: z.boolean().optional(),
      ...page,
      query: z.string().max(200).optional(),
      agentId,
      sortBy: z.enum(["nextRunAtMs", "name", "createdAtMs", "updatedAtMs"]).optional(),
      sortDir: z.enum(["asc", "desc"]).optional(),
    }),
  ),
  "cron.get": methodSpec("read", "one job", byId),
  "cron.add": methodSpec("admin", "adds a job: `main` takes a `systemEvent`, `isolated` an `agentTurn`", z.strictObject(cronJobFields)),
  "cron.update": methodSpec(
    "admin",
    "changes parts of a job; `agentId` and `delivery` are cleared by null",
    z.strictObject({
      id,
      patch: z.strictObject({ ...cronJobFields, agentId: agentId.nullable(), delivery: delivery.nullable() }).partial(),
    }),
  ),
  "cron.remove": methodSpec("admin", "removes a job and its stored runs", byId),
  "cron.run": methodSpec(
    "admin",
    "runs a job now; with `due` only when it is due",
    z.strictObject({ id, mode: z.enum(["due", "force"]).optional() }),
  ),
  "cron.runs": methodSpec(
    "read",
    "what became of runs, the newest first",
    z.strictObject({ id: id.optional(), runId: idText(200).optional(), ...page }),
  ),
} as const;
