import { type CliClient, type CliContext, messageOf, type PluginReload } from "svc/sdk";

/** What one load or reload came to. */
export interface DevEvent {
  /** What was edited, relative to the folder; empty for the first load. */
  files: string[];
  id: string;
  status: PluginReload["status"];
  /** Milliseconds in the gateway. */
  ms: number;
  /** With `file:line:column` in front where the code says so. */
  error?: string;
}

export interface DevSession {
  /** Loads the folder, or replaces the running instance with what stands there now. Never rejects: a failure is an event. */
  load(files: string[]): Promise<DevEvent>;
  close(): Promise<void>;
}

interface DevResult {
  ok: boolean;
  result: PluginReload;
}

/** A connection to the running gateway that is made again when the gateway was restarted. */
export async function openSession(cli: CliContext, root: string): Promise<DevSession> {
  let client: CliClient = await cli.connect();
  let id = "";
  const ask = async (): Promise<PluginReload> => {
    const { result } = await client.request<DevResult>("plugins.dev", { path: root });
    id = result.id;
    return result;
  };
  const askAgain = async (): Promise<PluginReload> => {
    await client.close();
    client = await cli.connect();
    return ask();
  };
  return {
    async load(files) {
      const started = performance.now();
      try {
        const result = await ask().catch((error: unknown) => (isLost(error) ? askAgain() : Promise.reject(error)));
        return { files, ...result };
      } catch (error) {
        return { files, id, status: "failed", ms: Math.round(performance.now() - started), error: messageOf(error) };
      }
    },
    close: () => client.close(),
  };
}

function isLost(error: unknown): boolean {
  return (error as { code?: unknown }).code === "connection-closed";
}
