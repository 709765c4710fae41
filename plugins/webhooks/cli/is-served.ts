import type { CliContext } from "svc/sdk";
import { hasGateway } from "svc/sdk/internal";

/** Is there a gateway to ask? With an address that is named it is asked in any case. */
export async function isServed(cli: CliContext, values: Readonly<Record<string, unknown>>): Promise<boolean> {
  return typeof values.url === "string" || (await hasGateway(cli));
}
