import type { CliClient, CliContext } from "svc/sdk";

/** Connects, works, and closes whatever happened; Ctrl-C closes too, and nobody waits for an answer any more. */
export async function withClient<T>(cli: CliContext, work: (client: CliClient) => Promise<T>): Promise<T> {
  const client = await cli.connect();
  const leave = () => void client.close();
  cli.signal.addEventListener("abort", leave, { once: true });
  try {
    return await work(client);
  } finally {
    cli.signal.removeEventListener("abort", leave);
    await client.close();
  }
}

/** Is there a gateway to ask? With an address that is named it is asked in any case. */
export async function isServed(cli: CliContext, values: Readonly<Record<string, unknown>>): Promise<boolean> {
  return typeof values.url === "string" || (await cli.lockOwner()) !== undefined;
}
