import type { PluginVendor } from "svc/sdk";

/** Message of the protocol. */
export type RpcMessage = Record<string, unknown>;

/** Connection to a server, as the library has it. */
export interface Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: RpcMessage, extra?: unknown) => void) | undefined;
  start(): Promise<void>;
  send(message: RpcMessage, options?: unknown): Promise<void>;
  close(): Promise<void>;
}

export interface StdioTransport extends Transport {
  readonly stderr: NodeJS.ReadableStream | null;
  readonly pid: number | null;
}

/** Progress of a call, as a server tells it. */
export interface Progress {
  progress?: number;
  total?: number;
  message?: string;
}

export interface RequestOptions {
  signal?: AbortSignal;
  timeout?: number;
  onprogress?: (progress: Progress) => void;
}

/** A tool as a server lists it; everything in it comes from there. */
export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: unknown;
  annotations?: { readOnlyHint?: boolean };
}

/** Question of a server to the person behind the client. */
export interface ElicitRequest {
  params: { mode?: string; message: string; requestedSchema?: unknown };
}

export interface ElicitAnswer {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
}

/** The part of the library's client that this plugin uses. */
export interface LibraryClient {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  connect(transport: Transport, options?: RequestOptions): Promise<void>;
  close(): Promise<void>;
  request(request: { method: string; params?: object }, options?: RequestOptions): Promise<Record<string, unknown>>;
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    options: RequestOptions & { toolDefinition: ListedTool },
  ): Promise<Record<string, unknown>>;
  getServerCapabilities(): { tools?: object; resources?: object; prompts?: object } | undefined;
  setRequestHandler(method: "elicitation/create", handler: (request: ElicitRequest, context: unknown) => Promise<ElicitAnswer>): void;
}

/** Keeper of the tokens of OAuth, as the library asks for it. */
export interface OAuthProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: Record<string, unknown>;
  state(): string;
  clientInformation(context?: { issuer: string }): Promise<Record<string, unknown> | undefined>;
  saveClientInformation(value: Record<string, unknown>, context?: { issuer: string }): Promise<void>;
  tokens(context?: { issuer: string }): Promise<Record<string, unknown> | undefined>;
  saveTokens(value: Record<string, unknown>, context?: { issuer: string }): Promise<void>;
  redirectToAuthorization(address: URL): void;
  saveCodeVerifier(verifier: string): void;
  codeVerifier(): string;
  saveDiscoveryState(state: Record<string, unknown>): void;
  discoveryState(): Record<string, unknown> | undefined;
  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void>;
}

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface HttpTransport extends Transport {
  finishAuth(params: URLSearchParams): Promise<void>;
  terminateSession(): Promise<void>;
}

/** The parts of `@modelcontextprotocol/client` that this plugin uses. */
export interface McpLibrary {
  Client: new (
    info: { name: string; version: string },
    options: {
      capabilities: object;
      versionNegotiation?: { mode: "auto" };
      listMaxPages: number;
      jsonSchemaValidator: { getValidator(schema: unknown): (value: unknown) => { valid: true; data: unknown } };
      listChanged: { tools: { autoRefresh: false; debounceMs: number; onChanged(): void } };
    },
  ) => LibraryClient;
  StreamableHTTPClientTransport: new (
    url: URL,
    options: {
      fetch: Fetch;
      requestInit: RequestInit;
      authProvider?: OAuthProvider;
      reconnectionScheduler(reconnect: () => void, delayMs: number): () => void;
    },
  ) => HttpTransport;
  UnauthorizedError: abstract new (...args: never[]) => Error;
  auth(
    provider: OAuthProvider,
    options: { serverUrl: URL; scope: string; resourceMetadataUrl?: URL; fetchFn: Fetch },
  ): Promise<"AUTHORIZED" | "REDIRECT">;
}

interface StdioLibrary {
  StdioClientTransport: new (options: {
    command: string;
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    cwd: string;
    stderr: "pipe";
    maxBufferSize: number;
  }) => StdioTransport;
}

const PACKAGE = "@modelcontextprotocol/client";

/** Loads the library, at the first server and not before. */
export async function loadMcpLibrary(vendor: PluginVendor): Promise<McpLibrary & StdioLibrary> {
  const entry = await vendor.resolve(PACKAGE);
  // The package offers its transport for programs beside its entry; the version is locked, and so is the place.
  const [library, stdio] = await Promise.all([
    import(entry) as Promise<McpLibrary>,
    import(new URL("stdio.mjs", entry).href) as Promise<StdioLibrary>,
  ]);
  return { ...library, StdioClientTransport: stdio.StdioClientTransport };
}
