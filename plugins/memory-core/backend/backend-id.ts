import type { SvcConfig } from "svc/sdk";

/** Id of the engine that `memory.backend` names, by whichever of its names. */
export function memoryBackendId({ memory }: SvcConfig): string {
  return memory.backend === "qmd" ? "sidecar" : memory.backend;
}
