import type { CliClient, ParamsOf, ResultOf } from "svc/sdk";

type Params<M extends "candidates" | "promote" | "preview" | "backfill"> = Omit<ParamsOf<`memory.dreaming.${M}`>, "agentId">;
type Result<M extends "candidates" | "promote" | "preview" | "backfill" | "repair"> = ResultOf<`memory.dreaming.${M}`>;
/** Final answer of a sweep. */
export type DreamRunResult = Exclude<ResultOf<"memory.dreaming.run">, { status: "accepted" }>;

/** Dreaming as the commands see it: through the running gateway, or on the files under the state lock. */
export interface DreamAccess {
  status(agentId: string | undefined): Promise<ResultOf<"memory.dreaming.status">>;
  run(agentId: string | undefined): Promise<DreamRunResult>;
  candidates(agentId: string | undefined, params: Params<"candidates">): Promise<Result<"candidates">>;
  promote(agentId: string | undefined, params: Params<"promote">): Promise<Result<"promote">>;
  preview(agentId: string | undefined, params: Params<"preview">): Promise<Result<"preview">>;
  backfill(agentId: string | undefined, params: Params<"backfill">): Promise<Result<"backfill">>;
  repair(agentId: string | undefined): Promise<Result<"repair">>;
  close(): Promise<void>;
}

/** A sweep has five minutes for each workspace. */
const RUN_MS = 30 * 60_000;

/** Dreaming of a running gateway. */
export function dreamsOverGateway(client: CliClient): DreamAccess {
  const of = (agentId: string | undefined) => (agentId === undefined ? {} : { agentId });
  return {
    status: (agentId) => client.request("memory.dreaming.status", of(agentId)),
    // The answer to wait for is the second one.
    run: async (agentId) =>
      (await client.request("memory.dreaming.run", of(agentId), { timeoutMs: RUN_MS, onAccepted: () => undefined })) as DreamRunResult,
    candidates: (agentId, params) => client.request("memory.dreaming.candidates", { ...of(agentId), ...params }),
    promote: (agentId, params) => client.request("memory.dreaming.promote", { ...of(agentId), ...params }),
    preview: (agentId, params) => client.request("memory.dreaming.preview", { ...of(agentId), ...params }),
    backfill: (agentId, params) => client.request("memory.dreaming.backfill", { ...of(agentId), ...params }),
    repair: (agentId) => client.request("memory.dreaming.repair", of(agentId)),
    close: () => client.close(),
  };
}
