import type { PluginVendor } from "svc/sdk";

/** Request of a client, as a handler gets it. */
export interface McpRequest {
  params?: { name?: unknown; arguments?: unknown };
}

/** Context of one request. */
export interface McpContext {
  mcpReq: {
    id: string | number;
    _meta?: { progressToken?: string | number };
    signal: AbortSignal;
    notify(notification: { method: string; params: object }): Promise<void>;
  };
}

interface LibraryServer {
  setRequestHandler(method: "tools/list" | "tools/call", handler: (request: McpRequest, context: McpContext) => unknown): void;
}

/** Context of a request besides its body; `extra` is handed to the factory as it is. */
export interface RequestInfo<Extra> {
  token: string;
  clientId: string;
  scopes: string[];
  extra: Extra;
}

export interface McpHandler<Extra> {
  fetch(request: Request, options: { parsedBody: unknown; authInfo: RequestInfo<Extra> }): Promise<Response>;
  close(): Promise<void>;
}

/** The parts of `@modelcontextprotocol/server` that this plugin uses. */
export interface McpServerLibrary {
  Server: new (info: { name: string; version: string }, options: { capabilities: object; instructions: string }) => LibraryServer;
  createMcpHandler<Extra>(
    factory: (context: { authInfo?: RequestInfo<Extra> }) => LibraryServer,
    options: { onerror(error: Error): void; maxSubscriptions: number },
  ): McpHandler<Extra>;
}

/** Loads the library, at the first request and not before. */
export function loadMcpServer(vendor: PluginVendor): Promise<McpServerLibrary> {
  return vendor.load<McpServerLibrary>("@modelcontextprotocol/server");
}
