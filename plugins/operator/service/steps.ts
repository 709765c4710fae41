import { errors } from "./errors.ts";
import type { ServiceHost } from "./host.ts";
import type { Step } from "./manager.ts";
import { failureOf } from "./run-command.ts";

/**
 * Runs one step.
 * @returns false when it failed and may fail
 * @throws {SvcError} `service-command`
 */
export async function runStep(
  host: Pick<ServiceHost, "run">,
  { argv, mayFail = false }: Step,
  { timeoutMs, hint = "" }: { timeoutMs?: number; hint?: string } = {},
): Promise<boolean> {
  const result = await host.run(argv, timeoutMs === undefined ? {} : { timeoutMs });
  if (result.code === 0) return true;
  if (mayFail && result.problem === undefined) return false;
  throw errors.serviceCommand({ command: argv.join(" "), reason: failureOf(result), hint });
}
