import type { CliClient, CliContext } from "svc/sdk";

/**
 * Works with the running gateway; undefined when none runs here.
 * @throws {SvcError} when one runs and does not answer, or refuses: a command never goes around the gateway
 */
export async function withLiveGateway<T>(cli: CliContext, work: (client: CliClient) => Promise<T>): Promise<T | undefined> {
  if (!(await cli.lockOwner()) && (await cli.target()).portSource !== "flag") return undefined;
  return cli.withClient(work);
}
