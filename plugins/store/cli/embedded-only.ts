import type { CliContext } from "svc/sdk";
import { storeErrors } from "../errors.ts";

/** Refuses a command that works on the file of the embedded store where the state is elsewhere. @throws {SvcError} `store-not-embedded` */
export async function expectEmbedded(cli: Pick<CliContext, "configFile">, command: string): Promise<void> {
  const { config } = await (await cli.configFile()).load();
  const backend = config?.store.backend ?? "sqlite";
  if (backend !== "sqlite") throw storeErrors.storeNotEmbedded({ command, backend });
}
