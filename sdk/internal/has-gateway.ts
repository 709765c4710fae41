import type { CliContext } from "../types/cli.ts";

/** Is there a gateway to ask: one that runs with this profile's state, or the one that `gateway.remote` names? Whether it answers is another question. */
export async function hasGateway(cli: Pick<CliContext, "lockOwner" | "target">): Promise<boolean> {
  return (await cli.lockOwner()) !== undefined || (await cli.target()).portSource === "remote";
}
