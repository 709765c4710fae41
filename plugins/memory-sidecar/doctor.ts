import type { DoctorFinding, PluginContext } from "svc/sdk";
import { messageOf } from "svc/sdk";
import type { SidecarBackend } from "./backend.ts";
import type { ManagerState } from "./manager.ts";
import type { SidecarSettings } from "./settings.ts";

/** Evidence about one agent's sidecar. */
export interface SidecarEvidence {
  settings: Pick<SidecarSettings, "agentId" | "command" | "searchMode" | "update">;
  state: ManagerState | undefined;
  /** Why the engine could not be made ready, if it could not. */
  failure: string | undefined;
}

/** Checks of `svc doctor` (`memory-sidecar/*`). */
export function registerSidecarDoctor(ctx: Pick<PluginContext, "on">, backend: () => SidecarBackend | undefined): void {
  ctx.on("doctor.collect", async (_, meta) => {
    const present = backend();
    if (!present) return;
    await Promise.all(
      present.settings.map(async (settings) => {
        const failure = await present.sync(settings.agentId, { reason: "start" }).then(
          () => undefined,
          (error: unknown) => messageOf(error),
        );
        const state = present.managers.get(settings.agentId)?.state();
        for (const one of sidecarFindings({ settings, state, failure })) meta.report(one);
      }),
    );
  });
}

/** Findings about one agent's sidecar. Pure. */
export function sidecarFindings({ settings, state, failure }: SidecarEvidence): DoctorFinding[] {
  const { agentId, searchMode, update } = settings;
  const finding = (id: string, message: string, fix: string, path = "memory.sidecar"): DoctorFinding => ({
    id: `memory-sidecar/${id}`,
    severity: "warning",
    path,
    message: `agent "${agentId}": ${message}`,
    fix,
  });
  if (failure !== undefined) {
    const fix = 'install the engine, set memory.sidecar.command, or set memory.backend to "builtin"';
    return [finding("program", `${failure}; the builtin engine answers`, fix, "memory.sidecar.command")];
  }
  const found: DoctorFinding[] = [];
  const { vectors, lastError, embedError, failedCollections = [] } = state ?? {};
  if (searchMode !== "search" && vectors === 0) {
    const why = update.embedIntervalMs === undefined ? "no embed run is configured" : (embedError ?? "no embed run has ended yet");
    const fix = 'let the engine load its models, or set searchMode to "search"';
    found.push(finding("vectors", `mode "${searchMode}" needs vectors, and there are none (${why})`, fix, "memory.sidecar.searchMode"));
  }
  if (lastError !== undefined)
    found.push(finding("update", `the index is not up to date: ${lastError}`, `svc memory index --agent ${agentId}`));
  for (const { name, reason } of failedCollections) {
    found.push(
      finding(
        "collections",
        `collection "${name}" could not be created: ${reason}`,
        "make the folder, or take it out",
        "memory.sidecar.paths",
      ),
    );
  }
  return found;
}
