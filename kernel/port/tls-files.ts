import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { messageOf } from "../../sdk/errors.ts";
import type { Env, Logger } from "../../sdk/types/common.ts";
import { watchFiles } from "../config/watch-files.ts";
import { hostErrors } from "../process/errors.ts";

/** Absolute paths of the PEM files of `gateway.tls`. */
export interface TlsPaths {
  cert: string;
  key: string;
  /** Authorities of client certificates; there is one, so a client needs a certificate. */
  ca?: string;
}

/** Certificate, key and authorities of a TLS server. */
export interface TlsMaterial {
  paths: TlsPaths;
  context: SecureContextOptions;
  /** SHA-256 of the certificate, as `AB:CD:…`. */
  fingerprint: string;
  /** Host names that the certificate is for, in lower case; `*.` at the beginning stands for one label. */
  names: readonly string[];
}

/** Files are read again once they have been quiet for this long. */
const DEBOUNCE_MS = 300;

/** `~` is the home folder, relative paths start at the config's folder. Undefined unless both files are named. */
export function tlsPaths(
  tls: { certPath?: string | undefined; keyPath?: string | undefined; caPath?: string | undefined },
  from: { env: Env; configDir: string },
): TlsPaths | undefined {
  const home = from.env.HOME ?? homedir();
  const absolute = (path: string) => resolve(from.configDir, path.startsWith("~/") ? join(home, path.slice(2)) : path);
  const { certPath, keyPath, caPath } = tls;
  if (certPath === undefined || keyPath === undefined) return undefined;
  return { cert: absolute(certPath), key: absolute(keyPath), ...(caPath === undefined ? {} : { ca: absolute(caPath) }) };
}

/** PEM files of the dev profile's own certificate. */
export function localTlsPaths(stateDir: string): TlsPaths {
  const folder = join(stateDir, "gateway", "https");
  return { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
}

/**
 * Reads certificate, key and authorities, and sees that they belong together. TLS 1.2 at least.
 * @throws {SvcError} `tls-unusable`; nothing of a key is in it
 */
export async function readTlsFiles(paths: TlsPaths): Promise<TlsMaterial> {
  const read = (path: string) =>
    readFile(path).catch((error: unknown) => {
      throw hostErrors.tlsUnusable({
        reason: `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`,
      });
    });
  const [cert, key, ca] = await Promise.all([read(paths.cert), read(paths.key), paths.ca === undefined ? undefined : read(paths.ca)]);
  const context: SecureContextOptions = { cert, key, minVersion: "TLSv1.2", ...(ca ? { ca } : {}) };
  try {
    createSecureContext(context);
    const certificate = new X509Certificate(cert);
    return { paths, context, fingerprint: certificate.fingerprint256, names: namesOf(certificate) };
  } catch (error) {
    const reason = `${paths.cert} and ${paths.key} cannot be used together (${(error as NodeJS.ErrnoException).code ?? "not PEM"})`;
    throw hostErrors.tlsUnusable({ reason });
  }
}

/** Host names of a certificate. Commas separate the entries; names with odd characters are quoted by Node and left out. */
function namesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((entry) => (/^DNS:[\w.*-]+$/.test(entry) ? [entry.slice("DNS:".length).toLowerCase()] : []));
}

/** Hands over what the files hold after each change of them; what cannot be used is told, and the old stays. */
export function followTlsFiles(
  paths: TlsPaths,
  { apply, logger, pollMs }: { apply(material: TlsMaterial): void; logger: Pick<Logger, "info" | "warn">; pollMs?: number },
): { dispose(): void } {
  let turn: Promise<void> = Promise.resolve();
  const again = async () => {
    try {
      const material = await readTlsFiles(paths);
      apply(material);
      logger.info("the TLS certificate was reloaded", { fingerprint: material.fingerprint });
    } catch (error) {
      logger.warn(`the TLS certificate stays as it was: ${messageOf(error)}`);
    }
  };
  const watch = watchFiles({
    debounceMs: () => DEBOUNCE_MS,
    onChange: () => {
      turn = turn.then(again);
    },
    onWarning: (message) => logger.warn(message),
    ...(pollMs === undefined ? {} : { pollMs }),
  });
  watch.setFiles([paths.cert, paths.key, ...(paths.ca === undefined ? [] : [paths.ca])]);
  return watch;
}
