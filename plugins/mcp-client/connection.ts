import { cleanExternalLine, isRecord, type Logger, messageOf } from "svc/sdk";
import { guardInbound } from "./inbound-guard.ts";
import type {
  ElicitAnswer,
  ElicitRequest,
  Fetch,
  LibraryClient,
  ListedTool,
  loadMcpLibrary,
  OAuthProvider,
  Progress,
  Transport,
} from "./library.ts";
import { withScopeRefusals } from "./scope.ts";
import { MAX_MESSAGE_BYTES, serverFetch } from "./server-fetch.ts";
import { isOffered, type ServerSettings, secretsOf } from "./settings.ts";
import { createStderrLog } from "./stderr-log.ts";

const MAX_TOOLS = 256;
const MAX_PAGES = 20;
const LIST_CHANGE_MS = 300;
/** A server may ask to be connected again at once; this is the least pause. A longer one that it asks for is kept. */
const MIN_RETRY_MS = 250;

export interface ConnectionDeps {
  library: Awaited<ReturnType<typeof loadMcpLibrary>>;
  version: string;
  fetch: Fetch;
  logger: Logger;
  monotonic(): number;
  auth?: OAuthProvider | undefined;
  /** Puts a question of the server to a person; absent: the server is told that there is nobody. */
  elicit?: ((request: ElicitRequest) => Promise<ElicitAnswer>) | undefined;
  onClosed(reason: string): void;
  onToolsChanged(): void;
}

export interface CallOptions {
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** One live connection to a server. */
export interface Connection {
  readonly offers: { resources: boolean; prompts: boolean };
  listTools(signal: AbortSignal): Promise<ListedTool[]>;
  /** @throws what the library throws */
  callTool(tool: ListedTool, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>>;
  request(method: string, params: object, options: CallOptions): Promise<Record<string, unknown>>;
  /** Resolves when it is closed, 5 s at most. */
  close(): Promise<void>;
}

/**
 * Connects to a server.
 * @param signal ends the attempt
 * @throws what the library, the system or the signal says
 */
export async function openConnection(settings: ServerSettings, deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  const { library, version, onClosed, onToolsChanged, logger, monotonic } = deps;
  const client = new library.Client(
    { name: "svc", version },
    {
      capabilities: deps.elicit ? { elicitation: { form: {} } } : {},
      ...(settings.protocol === "auto" ? { versionNegotiation: { mode: "auto" as const } } : {}),
      listMaxPages: MAX_PAGES,
      // Nobody here runs the schemas of a foreign server: a pattern in one could hold up the gateway.
      jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data }) },
      listChanged: { tools: { autoRefresh: false, debounceMs: LIST_CHANGE_MS, onChanged: onToolsChanged } },
    },
  );
  if (deps.elicit) {
    const { elicit } = deps;
    client.setRequestHandler("elicitation/create", (request) => elicit(request));
  }
  const secrets = secretsOf(settings);
  const { transport, lastOutput } = openTransport(settings, deps, secrets);
  let isOpen = false;
  guardInbound(transport, monotonic, () => {
    logger.warn(`MCP server "${settings.name}": disconnected, because it floods the gateway with messages`);
    void client.close().catch(() => undefined);
  });
  client.onerror = (error) =>
    logger.debug(`MCP server "${settings.name}": ${withoutSecrets(cleanExternalLine(messageOf(error), 300), secrets)}`);
  client.onclose = () => {
    if (isOpen) onClosed("the connection was closed");
    isOpen = false;
  };
  try {
    await unlessAborted(client.connect(transport, { signal, timeout: settings.startMs }), signal);
  } catch (error) {
    void closeWithin(client, transport);
    const words = lastOutput();
    if (words !== "" && error instanceof Error) error.message = `${error.message}; it said: ${words}`;
    throw error;
  }
  isOpen = true;
  return liveConnection(client, settings, () => {
    isOpen = false;
    return closeWithin(client, transport);
  });
}

function liveConnection(client: LibraryClient, { tools, timeoutMs, startMs }: ServerSettings, close: () => Promise<void>): Connection {
  const { tools: hasTools, resources, prompts } = client.getServerCapabilities() ?? {};
  const request = (method: string, params: object, { signal, onProgress }: CallOptions) =>
    client.request({ method, params }, { signal, timeout: timeoutMs, ...(onProgress ? { onprogress: onProgress } : {}) });
  return {
    offers: { resources: resources !== undefined, prompts: prompts !== undefined },
    async listTools(signal) {
      if (hasTools === undefined) return [];
      const all: ListedTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: "tools/list", params }, { signal, timeout: startMs });
        const listed = (Array.isArray(answer.tools) ? answer.tools : []).flatMap(readTool);
        all.push(...listed.filter(({ name }) => isOffered(name, tools)).slice(0, MAX_TOOLS - all.length));
        if (typeof answer.nextCursor !== "string" || answer.nextCursor === cursor || all.length >= MAX_TOOLS) break;
        cursor = answer.nextCursor;
      }
      return all;
    },
    callTool: (tool, args, { signal, onProgress }) =>
      client.callTool(
        { name: tool.name, arguments: args },
        { signal, timeout: timeoutMs, toolDefinition: tool, ...(onProgress ? { onprogress: onProgress } : {}) },
      ),
    request,
    close,
  };
}

/** A tool of a list, without what nothing here reads. */
function readTool(value: unknown): ListedTool[] {
  if (!isRecord(value) || typeof value.name !== "string" || value.name === "" || value.name.length > 256) return [];
  const text = (key: "title" | "description") => (typeof value[key] === "string" ? { [key]: (value[key] as string).slice(0, 8_000) } : {});
  const isReadOnly = isRecord(value.annotations) && value.annotations.readOnlyHint === true;
  return [
    {
      name: value.name,
      ...text("title"),
      ...text("description"),
      inputSchema: value.inputSchema,
      annotations: { readOnlyHint: isReadOnly },
    },
  ];
}

/** `lastOutput`: what a program wrote to its standard error last. */
function openTransport(
  settings: ServerSettings,
  deps: ConnectionDeps,
  secrets: readonly string[],
): { transport: Transport; lastOutput(): string } {
  const { library, fetch, logger, auth } = deps;
  if (settings.kind === "http") {
    const { url, headers } = settings;
    const transport = new library.StreamableHTTPClientTransport(new URL(url), {
      fetch: withScopeRefusals(serverFetch({ url, headers, fetch }), url),
      requestInit: {},
      ...(auth ? { authProvider: auth } : {}),
      reconnectionScheduler(reconnect, delayMs) {
        const timer = setTimeout(reconnect, Math.max(MIN_RETRY_MS, delayMs));
        return () => clearTimeout(timer);
      },
    });
    return { transport, lastOutput: () => "" };
  }
  const { command, args, env, cwd } = settings;
  const transport = new library.StdioClientTransport({ command, args, env, cwd, stderr: "pipe", maxBufferSize: MAX_MESSAGE_BYTES });
  const log = createStderrLog((line) => logger.info(`MCP server "${settings.name}": ${line}`), secrets);
  transport.stderr?.on("error", () => undefined);
  transport.stderr?.on("data", (chunk: Buffer) => log.add(chunk.toString()));
  return { transport, lastOutput: () => log.lastOutput() };
}

/** A program that ignores the end of its input is killed by the library after 4 s. */
async function closeWithin(client: LibraryClient, transport: Transport): Promise<void> {
  await Promise.race([client.close().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 5_000).unref())]);
  await transport.close().catch(() => undefined);
}

/** The library leaves an attempt that hangs before its first request to the signal of nobody. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, "***"), text);
}
