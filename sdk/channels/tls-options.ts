import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { messageOf } from "../errors.ts";

/** Keys of TLS as accounts of channels have them. Paths may begin with `~/`. */
export interface ChannelTls {
  /** PEM file of the authorities that are trusted; without it those of Node.js. */
  caPath?: string;
  /** PEM files of the account's own certificate. */
  certPath?: string;
  keyPath?: string;
  /** Name that the server's certificate has to be for, where it is not the host. */
  serverName?: string;
}

/**
 * Returns what `tls.connect` takes for these keys: TLS 1.2 or later. The files are read at each call, so that renewed ones need no restart.
 *
 * @param host name that the certificate has to be for unless `serverName` says another; an address is not sent as a name
 * @throws {Error} with the path of a file that cannot be read
 */
export async function tlsOptions({ caPath, certPath, keyPath, serverName = "" }: ChannelTls, host: string): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all([readPem(caPath), readPem(certPath), readPem(keyPath)]);
  const name = serverName || host;
  return {
    minVersion: "TLSv1.2",
    ...(isIP(name) ? {} : { servername: name }),
    ...(ca ? { ca } : {}),
    ...(cert && key ? { cert, key } : {}),
  };
}

async function readPem(path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  return readFile(path.startsWith("~/") ? join(homedir(), path.slice(2)) : path).catch((error: unknown) => {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`);
  });
}
