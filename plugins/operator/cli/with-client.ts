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
