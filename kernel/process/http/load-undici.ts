import { createRequire } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import type * as undici from "undici";

/** Forms with a promise. */
type Request = (options: undici.Dispatcher.RequestOptions) => Promise<undici.Dispatcher.ResponseData>;
type Connect = (options: Omit<undici.Dispatcher.ConnectOptions, "origin">) => Promise<undici.Dispatcher.ConnectData>;

/** Parts of the package that a pool needs. */
export interface Undici {
  Client: typeof undici.Client;
  Pool: typeof undici.Pool;
  buildConnector: typeof undici.buildConnector;
  /** The methods of these names, which only the package as a whole puts on its classes. */
  request(pool: undici.Pool, options: Parameters<Request>[0]): ReturnType<Request>;
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
  request: "undici/lib/api/api-request.js",
  connect: "undici/lib/api/api-connect.js",
} as const;

const require = createRequire(import.meta.url);
let loading: Promise<Undici> | undefined;

/** Loads the package with the first request of a process, one file a turn of the event loop. */
export function loadUndici(): Promise<Undici> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Undici> {
  for (const file of Object.values(undiciFiles)) {
    require(file);
    await nextTurn();
  }
  const request = require(undiciFiles.request) as Request;
  const connect = require(undiciFiles.connect) as Connect;
  return {
    Client: require(undiciFiles.client) as Undici["Client"],
    Pool: require(undiciFiles.pool) as Undici["Pool"],
    buildConnector: require(undiciFiles.connector) as Undici["buildConnector"],
    request: (pool, options) => request.call(pool, options),
    connect: (client, options) => connect.call(client, options),
  };
}
