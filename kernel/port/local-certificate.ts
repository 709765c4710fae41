import { X509Certificate } from "node:crypto";
import { writeFileAtomic } from "../../sdk/files.ts";
import { localTlsPaths, readTlsFiles, type TlsMaterial } from "./tls-files.ts";

/** A certificate is replaced at a start when it has less than this left. */
const RENEW_MS = 7 * 86_400_000;

/** Reads the certificate of `--https`; makes one where there is none, or none that lasts: a browser's exception holds until then. */
export async function localCertificate(stateDir: string, now = Date.now()): Promise<TlsMaterial> {
  const paths = localTlsPaths(stateDir);
  const found = await readTlsFiles(paths).catch(() => undefined);
  if (found && Date.parse(new X509Certificate(found.context.cert as Buffer).validTo) - now > RENEW_MS) return found;
  const { makeCertificate } = await import("./dev-server.ts");
  const { cert, key } = await makeCertificate();
  await writeFileAtomic(paths.key, key);
  await writeFileAtomic(paths.cert, cert);
  return readTlsFiles(paths);
}
