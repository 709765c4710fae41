/** The parts of the package `discord.js` that this channel uses. */
export interface DiscordLibrary {
  REST: new (options: object) => DiscordRest;
}

/** The REST client of the library: routes, rate limits, uploads. */
export interface DiscordRest {
  setToken(token: string): unknown;
  request(options: object): Promise<unknown>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  clearHashSweeper(): void;
  clearHandlerSweeper(): void;
}

/** The parts of the package `ws` that this channel uses. */
export interface SocketLibrary {
  WebSocket: new (url: string, options: object) => GatewaySocket;
}

/** A WebSocket of the package. */
export interface GatewaySocket {
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "close", listener: (code: number, reason: Buffer) => void): void;
  send(text: string, done: (error?: Error) => void): void;
  close(code: number): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

export interface Libraries {
  discord: DiscordLibrary;
  sockets: SocketLibrary;
}

/** Names that tslib 2.8, a package behind `discord.js`, defines for everybody. */
const STRAY_GLOBAL = /^__[a-z][A-Za-z]+$/;

/** Loads the libraries, and takes away what they leave behind in the process. */
export async function loadLibraries(load: () => Promise<Libraries>): Promise<Libraries> {
  const before = new Set(Object.getOwnPropertyNames(globalThis));
  const libraries = await load();
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!before.has(name) && STRAY_GLOBAL.test(name)) delete (globalThis as Record<string, unknown>)[name];
  return libraries;
}
