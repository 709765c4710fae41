import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** PEM files of one self-made certificate, for `localhost` and 127.0.0.1 unless said otherwise. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Makes a certificate by the `openssl` command, good for one day. */
export async function makeCertificate(folder: string, name = "tls", host = "localhost"): Promise<Certificate> {
  const files = { cert: join(folder, `${name}-cert.pem`), key: join(folder, `${name}-key.pem`) };
  const names = host === "localhost" ? "subjectAltName=DNS:localhost,IP:127.0.0.1" : `subjectAltName=DNS:${host}`;
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  await run("openssl", ["req", ...kind, "-subj", `/CN=${host}`, "-addext", names, "-keyout", files.key, "-out", files.cert]);
  return files;
}
