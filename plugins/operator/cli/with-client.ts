import type { CliClient, CliContext } from "svc/sdk";

/** Connects, works, and closes whatever happened. */
export async function withClient<T>(cli: CliContext, work: (client: CliClient) => Promise<T>): Promise<T> {
  const client = await cli.connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
