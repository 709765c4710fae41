import { createRequire } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import type * as undici from "undici";

/** Form with a promise. */
type Connect = (options: Omit<undici.Dispatcher.ConnectOptions, "origin">) => Promise<undici.Dispatcher.ConnectData>;

/** Body of a response, fed by whoever made it. */
export type ResponseBody = undici.Dispatcher.ResponseData["body"];

/** Parts of the package that a pool needs. */
export interface Undici {
  Client: typeof undici.Client;
  Pool: typeof undici.Pool;
  buildConnector: typeof undici.buildConnector;
  ResponseBody: new (options: { resume(): void; abort(): void }) => ResponseBody;
  /** The method of this name, which only the package as a whole puts on its classes. */
  connect(client: undici.Client, options: Parameters<Connect>[0]): ReturnType<Connect>;
}

/**
 * Files of undici, each of which needs those before it. The whole package is a graph of 110 files, most of them for `fetch`, whose loading would block the
 * event loop for as long as it takes.
 */
export const undiciFiles = {
  util: "undici/lib/core/util.js",
  http1: "undici/lib/dispatcher/client-h1.js",
  http2: "undici/lib/dispatcher/client-h2.js",
  client: "undici/lib/dispatcher/client.js",
  pool: "undici/lib/dispatcher/pool.js",
  connector: "undici/lib/core/connect.js",
  readable: "undici/lib/api/readable.js",
  connect: "undici/lib/api/api-connect.js",
} as const;

const require = createRequire(import.meta.url);
let loading: Promise<Undici> | undefined;

/** Loads the package with the first request of a process, one file a turn of the event loop; again with the next one when that failed. */
export function loadUndici(): Promise<Undici> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Undici> {
  for (const file of Object.values(undiciFiles)) {
    require(file);
    await nextTurn();
  }
  const readable = require(undiciFiles.readable) as { Readable: Undici["ResponseBody"] };
  const connect = require(undiciFiles.connect) as Connect;
  return {
    Client: require(undiciFiles.client) as Undici["Client"],
    Pool: require(undiciFiles.pool) as Undici["Pool"],
    buildConnector: require(undiciFiles.connector) as Undici["buildConnector"],
    ResponseBody: readable.Readable,
    connect: (client, options) => connect.call(client, options),
  };
}
