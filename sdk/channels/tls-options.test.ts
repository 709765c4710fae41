import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tlsOptions } from "./tls-options.ts";

test("the files of an account are read, and a certificate without its key is none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-tls-"));
  const [caPath, certPath, keyPath] = ["ca", "cert", "key"].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [caPath, certPath, keyPath]) await writeFile(path, path);

  const whole = await tlsOptions({ caPath, certPath, keyPath }, "irc.example.net");
  const half = await tlsOptions({ certPath }, "irc.example.net");

  const pem = (path: string) => Buffer.from(path);
  expect(whole).toEqual({
    minVersion: "TLSv1.2",
    servername: "irc.example.net",
    ca: pem(caPath),
    cert: pem(certPath),
    key: pem(keyPath),
  });
  expect(half).toEqual({ minVersion: "TLSv1.2", servername: "irc.example.net" });
  await rm(folder, { recursive: true });
});

test("the certificate is that of serverName, and an address is not sent as a name", async () => {
  expect(await tlsOptions({ serverName: "b.example.net" }, "a.example.net")).toMatchObject({ servername: "b.example.net" });
  expect(await tlsOptions({}, "127.0.0.1")).not.toHaveProperty("servername");
  expect(await tlsOptions({}, "::1")).not.toHaveProperty("servername");
});

test("a file that cannot be read is said by its path", async () => {
  await expect(tlsOptions({ caPath: "/no/such/ca.pem" }, "a.example.net")).rejects.toThrow("/no/such/ca.pem cannot be read (ENOENT)");
});
