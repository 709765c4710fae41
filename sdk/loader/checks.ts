import type { DoctorFinding, HealthPart } from "../hooks.ts";
import type { DoctorCheck, HealthCheck } from "../types/checks.ts";

/** Runs a plugin's health check as a part of the health snapshot, `plugin/<plugin>/<check>`. Never critical: the gateway does not hang on it. */
export async function runHealthCheck(plugin: string, check: HealthCheck, signal: AbortSignal): Promise<HealthPart> {
  const { ok, level, message, fix } = await check.run(signal);
  return { part: `plugin/${plugin}/${check.id}`, ok, message, value: { ok, level, message, ...(fix === undefined ? {} : { fix }) } };
}

/** Runs a plugin's doctor check; what is in order is told as information. */
export async function runDoctorCheck(plugin: string, check: DoctorCheck, signal: AbortSignal): Promise<DoctorFinding> {
  const { ok, level, message, fix } = await check.run(signal);
  return { id: `plugin/${plugin}/${check.id}`, severity: ok ? "info" : level, message, ...(fix === undefined ? {} : { fix }) };
}
