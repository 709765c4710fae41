import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { followTlsFiles, readTlsFiles, tlsPaths } from "../../kernel/port/tls-files.ts";
import { makeCertificate } from "../servers/certificate.ts";
import { needs } from "../servers/needs.ts";

const { test } = needs("openssl");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-tls-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("paths begin at the config's folder or at home, and both files have to be named", () => {
  const from = { env: { HOME: "/home/me" }, configDir: "/etc/svc" };
  expect(tlsPaths({ certPath: "tls/cert.pem", keyPath: "~/key.pem", caPath: "/ca.pem" }, from)).toEqual({
    cert: "/etc/svc/tls/cert.pem",
    key: "/home/me/key.pem",
    ca: "/ca.pem",
  });
  expect(tlsPaths({ certPath: "cert.pem" }, from)).toBeUndefined();
});

test("a certificate and its key are read with TLS 1.2 as the least; others are refused, and nothing of a key is told", async () => {
  const [one, two] = [await makeCertificate(folder, "one"), await makeCertificate(folder, "two")];
  const material = await readTlsFiles(one);
  expect(material.context.minVersion).toBe("TLSv1.2");
  expect(material.names).toEqual(["localhost"]);
  expect((await readTlsFiles(await makeCertificate(folder, "wild", "*.Example.org"))).names).toEqual(["*.example.org"]);
  expect(material.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  const refused = { code: "tls-unusable", message: expect.stringMatching(/^gateway\.tls: .*; expected a certificate chain and its key/) };
  for (const paths of [
    { ...one, key: two.key },
    { ...one, cert: one.key },
    { ...one, cert: join(folder, "gone.pem") },
  ]) {
    const error = await readTlsFiles(paths).catch((e: unknown) => e);
    expect(error).toMatchObject(refused);
    expect(String(error)).not.toMatch(/BEGIN|PRIVATE/);
  }
});

test("changed files are handed over once they can be used", async () => {
  const files = await makeCertificate(folder, "followed");
  const next = await makeCertificate(folder, "later");
  const applied: unknown[] = [];
  const lines: string[] = [];
  const logger = { info: (message: string) => void lines.push(message), warn: (message: string) => void lines.push(message) };
  const watch = followTlsFiles(files, { apply: ({ context }) => void applied.push(context.cert), logger, pollMs: 50 });
  try {
    await writeFile(files.key, "no key");
    await eventually(() => lines.some((line) => line.startsWith("the TLS certificate stays as it was: gateway.tls: ")));
    expect(applied).toEqual([]);
    await copyFile(next.key, files.key);
    await copyFile(next.cert, files.cert);
    await eventually(() => lines.includes("the TLS certificate was reloaded"));
    expect(applied.at(-1)).toEqual((await readTlsFiles(next)).context.cert);
  } finally {
    watch.dispose();
  }
});
