import type { ModelInput, PluginContext } from "svc/sdk";

/** Tells what the model reads that would answer; its provider is asked once, and not before somebody wants to know. */
export function modelReads(
  ctx: PluginContext,
  { agentId, sessionKey, model }: { agentId: string; sessionKey: string; model: string | undefined },
): (kind: ModelInput) => Promise<boolean> {
  let asked: Promise<readonly ModelInput[]> | undefined;
  return async (kind) => {
    asked ??= ctx
      .service("agents@1")
      .modelInput({ agentId, sessionKey, ...(model === undefined ? {} : { model }) })
      // A model that is not there is for the run to report.
      .catch(() => []);
    return (await asked).includes(kind);
  };
}
