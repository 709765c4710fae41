import { type CliClient, type CliContext, messageOf, type PluginReload } from "svc/sdk";

/** Result of one load or reload. */
export interface DevEvent {
  /** Edited files, relative to the folder; empty for the first load. */
  files: string[];
  id: string;
  status: PluginReload["status"];
  /** Milliseconds in the gateway. */
  ms: number;
  /** With `file:line:column` in front where the code says so. */
  error?: string;
  /** Refusals of a plugin that loaded: undeclared registrations, and permissions that are not granted. */
  refused: string[];
}

export interface DevSession {
  /** Loads the folder, or replaces the running instance with what stands there now. Never rejects: a failure is an event. */
  load(files: string[]): Promise<DevEvent>;
  close(): Promise<void>;
}

/** Import, setup and start have 30 s each unless the entry says otherwise; what they came to is told by the gateway, not by a lost patience. */
const ANSWER_MS = 120_000;

type Loaded = PluginReload & Pick<DevEvent, "refused">;

/** A connection to the running gateway that is made again when the gateway was restarted. */
export async function openSession(cli: CliContext, root: string): Promise<DevSession> {
  let client: CliClient = await cli.connect();
  let id = "";
  const ask = async (): Promise<Loaded> => {
    const { result, plugin } = await client.request("plugins.dev", { path: root }, { timeoutMs: ANSWER_MS });
    id = result.id;
    // Of a failed reload they are those of the instance that serves on.
    const refused = result.error === undefined ? plugin.diagnostics.map(({ message }) => message) : [];
    return { ...result, refused };
  };
  const askAgain = async (): Promise<Loaded> => {
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
        return { files, id, status: "failed", ms: Math.round(performance.now() - started), error: messageOf(error), refused: [] };
      }
    },
    close: () => client.close(),
  };
}

function isLost(error: unknown): boolean {
  return (error as { code?: unknown }).code === "connection-closed";
}
