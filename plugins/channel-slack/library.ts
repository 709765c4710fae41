import type { Socket } from "node:net";
import type { PluginVendor } from "svc/sdk";

/** Silent logger in the form that the packages want: their own would write addresses, texts and tickets to the console. */
export interface LibraryLogger {
  debug(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
  setLevel(): void;
  getLevel(): string;
  setName(): void;
}

/** Options of a client of the Web API that this channel sets. */
export interface WebClientOptions {
  slackApiUrl: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  retryConfig: { retries: number };
  rejectRateLimitedCalls: boolean;
  allowAbsoluteUrls: boolean;
  logger: LibraryLogger;
}

/** One link in socket mode. */
export interface SocketModeClient {
  on(event: string, listener: (...values: never[]) => void): unknown;
  start(): Promise<unknown>;
  disconnect(): Promise<void>;
  send(envelopeId: string, body?: object): Promise<void>;
  onWebSocketMessage(data: unknown, isBinary: boolean): Promise<void>;
  websocket?: { closeHandshakeTimeout?: NodeJS.Timeout };
}

interface Dispatcher {
  destroy(): Promise<void>;
}

type Connector = (options: object, done: (error: Error | null, socket: Socket | null) => void) => void;

/** The parts of the packages `@slack/web-api`, `@slack/socket-mode` and `undici` that this channel uses. */
export interface SlackLibrary {
  WebClient: new (
    token: string,
    options: WebClientOptions,
  ) => { apiCall(method: string, params: object): Promise<Record<string, unknown>> };
  SocketModeClient: new (options: {
    appToken: string;
    autoReconnectEnabled: boolean;
    clientPingTimeout: number;
    dispatcher: Dispatcher;
    clientOptions: WebClientOptions;
    logger: LibraryLogger;
  }) => SocketModeClient;
  Agent: new (options: { connect: Connector; webSocket: { maxPayloadSize: number } }) => Dispatcher;
  buildConnector(options: { allowH2: boolean; timeout: number }): Connector;
}

/** Places where copies of undici keep the dispatcher that the global `fetch` uses. */
const GLOBAL_DISPATCHERS = [Symbol.for("undici.globalDispatcher.1"), Symbol.for("undici.globalDispatcher.2")];

/** Loads the packages. */
export async function loadSlackLibrary(vendor: PluginVendor): Promise<SlackLibrary> {
  // Reading it makes Node load its own undici first: the package would set the dispatcher of the whole process where there is none yet.
  void globalThis.Headers;
  const places = globalThis as Record<symbol, unknown>;
  const before = GLOBAL_DISPATCHERS.map((place) => places[place]);
  const [{ WebClient }, { Agent, buildConnector }, { SocketModeClient }] = await Promise.all([
    vendor.load<Pick<SlackLibrary, "WebClient">>("@slack/web-api"),
    vendor.load<Pick<SlackLibrary, "Agent" | "buildConnector">>("undici"),
    vendor.load<Pick<SlackLibrary, "SocketModeClient">>("@slack/socket-mode"),
  ]);
  for (const [i, place] of GLOBAL_DISPATCHERS.entries()) if (before[i] !== undefined) places[place] = before[i];
  return { WebClient, SocketModeClient, Agent, buildConnector };
}

const nothing = () => undefined;

/** Logger that writes nothing. */
export const silentLogger: LibraryLogger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  getLevel: () => "error",
  setName: nothing,
};
