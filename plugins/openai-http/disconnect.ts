import type { RunHandle } from "svc/sdk";

/** Aborts the run when the client goes away before its end. */
export function onDisconnect(signal: AbortSignal, handle: Pick<RunHandle, "abort">): { dispose(): void } {
  const abort = () => handle.abort("disconnect");
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return { dispose: () => signal.removeEventListener("abort", abort) };
}
