import type { CliContext, SvcConfig } from "svc/sdk";
import { hasGateway, parseSharedConfig } from "svc/sdk/internal";
import { type DreamAccess, dreamsOverGateway } from "./dream-access.ts";

/** Runs one command with it, and closes whatever happened. */
export async function withDreams(cli: CliContext, work: (access: DreamAccess) => Promise<number>): Promise<number> {
  const access = await openDreamAccess(cli);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}

/** Opens dreaming by the rule of all commands: whoever holds the state lock does the work. */
async function openDreamAccess(cli: CliContext): Promise<DreamAccess> {
  if (await hasGateway(cli)) return dreamsOverGateway(await cli.connect());
  const { config } = await cli.config();
  const effective = (config as SvcConfig | undefined) ?? parseSharedConfig({});
  // A command that a gateway serves needs none of this.
  const { dreamsInProcess } = await import("./dream-local.ts");
  const local = await cli.local(["memory-core", "store"]);
  return dreamsInProcess(cli, { config: effective, local });
}
