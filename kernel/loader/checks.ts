import type { DoctorFinding, HealthPart } from "../../sdk/hooks.ts";
import type { CheckResult, DoctorCheck, HealthCheck } from "../../sdk/types/checks.ts";

/**
 * Runs a plugin's health check as a part of the health snapshot, `plugin/<plugin>/<check>`. Never critical: the gateway does not hang on it.
 * @throws {TypeError} its answer is none; who asked makes a finding of that
 */
export async function runHealthCheck(plugin: string, check: HealthCheck, signal: AbortSignal): Promise<HealthPart> {
  const { ok, level, message, fix } = sound(check.id, await check.run(signal));
  return { part: `plugin/${plugin}/${check.id}`, ok, message, value: { ok, level, message, ...(fix === undefined ? {} : { fix }) } };
}

/**
 * Runs a plugin's doctor check; what is in order is told as information.
 * @throws {TypeError} its answer is none
 */
export async function runDoctorCheck(plugin: string, check: DoctorCheck, signal: AbortSignal): Promise<DoctorFinding> {
  const { ok, level, message, fix } = sound(check.id, await check.run(signal));
  return { id: `plugin/${plugin}/${check.id}`, severity: ok ? "info" : level, message, ...(fix === undefined ? {} : { fix }) };
}

const levels: ReadonlyArray<CheckResult["level"]> = ["info", "warning", "error"];

/** A check that answers nonsense would vanish without a word: findings that are none are dropped. */
function sound(id: string, answer: CheckResult | undefined): CheckResult {
  const { ok, level, message } = answer ?? {};
  if (answer && typeof ok === "boolean" && level && levels.includes(level) && typeof message === "string") return answer;
  throw new TypeError(`check "${id}" answered without {ok, level: ${levels.map((l) => `"${l}"`).join(" | ")}, message}`);
}
