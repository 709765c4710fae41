import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "./paths.ts";

/** Most bytes of a log of launchd that a start keeps. */
const MAX_SERVICE_LOG_BYTES = 5_000_000;
/** Exit code of a refusal that must not be tried again. */
const EXIT_REFUSED = 78;

/** Name that the supervisor's definition gives this process; undefined in the foreground. */
export function serviceMarker(env: Env): string | undefined {
  return envValue(env, "SVC_SERVICE_MARKER");
}

/** Whether something starts this process again when it ends with 75. Switched off, all restarts stay in the process. */
export function isSupervised(env: Env): boolean {
  return serviceMarker(env) !== undefined && envValue(env, "SVC_NO_RESPAWN") !== "1";
}

/** True under launchd, whose labels begin so. */
export function isUnderLaunchd(env: Env): boolean {
  return serviceMarker(env)?.startsWith("ai.svc.") === true;
}

/** Exit code of the gateway for its supervisor. launchd knows no codes to stop at, only success: a refusal, which is on record by then, has to look like one. */
export function supervisedExitCode(code: number, env: Env): number {
  return code === EXIT_REFUSED && isUnderLaunchd(env) ? 0 : code;
}

/** Cuts the files that launchd appends this process's output to down to their last 5 MB. They are open for appending, so they are cut in place; a failure is nobody's concern. */
export async function trimServiceLogs(stateDir: string, maxBytes = MAX_SERVICE_LOG_BYTES): Promise<void> {
  for (const name of ["service.out.log", "service.err.log"]) await trim(join(stateDir, "logs", name), maxBytes).catch(() => undefined);
}

async function trim(path: string, maxBytes: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { size } = await file.stat();
    if (size <= maxBytes) return;
    const tail = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(tail, 0, maxBytes, size - maxBytes);
    // From the first whole line on.
    const kept = tail.subarray(tail.indexOf(10) + 1, bytesRead);
    await file.truncate(0);
    await file.write(kept, 0, kept.length, 0);
  } finally {
    await file.close();
  }
}
