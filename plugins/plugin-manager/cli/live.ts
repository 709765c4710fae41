import type { CliClient, CliContext, ResultOf } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";

type LivePlugins = ResultOf<"plugins.list">;

/**
 * Works with the running gateway; undefined when none runs here and `gateway.remote` names none.
 * @throws {SvcError} when one runs and does not answer, or refuses: a command never goes around the gateway
 */
export async function withLive<T>(cli: CliContext, work: (client: CliClient) => Promise<T>): Promise<T | undefined> {
  if (!(await hasGateway(cli)) && (await cli.target()).portSource !== "flag") return undefined;
  return cli.withClient(work);
}

export function listLive(cli: CliContext): Promise<LivePlugins | undefined> {
  return withLive(cli, (client) => client.request("plugins.list", {}));
}
