import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { createClient } from "svc/sdk/client";
import { afterEach, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { closeRawSockets, sendRaw } from "../kernel/_raw.ts";
import { BareSocket, connectParams } from "../kernel/_ws.ts";
import { type Certificate, makeCertificate } from "../servers/certificate.ts";
import { needs } from "../servers/needs.ts";
import { behindModels, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

const { describe, test } = needs("openssl");

afterEach(stopAll);
afterEach(closeRawSockets);

/** A home whose gateway serves TLS with `served-*.pem` of its state folder. */
async function homeWith(host?: string, tls: object = {}): Promise<{ home: Home; files: Certificate; folder: string }> {
  const home = await freshHome();
  const folder = join(home.stateDir, "pem");
  await mkdir(folder, { recursive: true });
  const files = await makeCertificate(folder, "served", host);
  const paths = { enabled: true, certPath: "pem/served-cert.pem", keyPath: "~/.svc/pem/served-key.pem", ...tls };
  await configured(home, { gateway: { mode: "local", auth: { token }, tls: paths }, plugins: behindModels });
  return { home, files, folder };
}

function ask(port: number, path: string, options: { headers?: Record<string, string>; maxVersion?: "TLSv1.1" } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false, ...options }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode ?? 0));
    });
    req.on("error", reject);
    req.end();
  });
}

/** Serial number of the certificate that is served. */
function served(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

async function hello({ port }: Running): Promise<BareSocket> {
  const socket = new BareSocket(`wss://127.0.0.1:${port}`, { rejectUnauthorized: false, headers: { origin: `https://127.0.0.1:${port}` } });
  await socket.frame((f) => f.event === "connect.challenge");
  expect((await socket.request("1", "connect", connectParams(token))).ok).toBe(true);
  return socket;
}

describe("gateway.tls", () => {
  test("serves HTTPS and WSS on the port, TLS 1.2 at least, and nothing plain", async () => {
    const { home } = await homeWith();
    const gateway = await gatewayIn(home);
    expect(gateway.out.stdout + gateway.out.stderr).toContain("listening on wss://127.0.0.1");
    expect(await ask(gateway.port, "/healthz")).toBe(200);
    expect(await ask(gateway.port, "/v1/models", { headers: { authorization: `Bearer ${token}` } })).toBe(200);
    await expect(ask(gateway.port, "/healthz", { maxVersion: "TLSv1.1" })).rejects.toThrow();
    expect(await sendRaw(gateway.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")).toBe("");
    expect(await ask(gateway.port, "/v1/models", { headers: { connection: "Upgrade", upgrade: "h2c" } })).toBe(401);
    const socket = await hello(gateway);
    await socket.close();
  });

  test("local commands take the certificate that is configured, whatever names it has, and no other", async () => {
    const { home, folder } = await homeWith("gateway.example");
    const gateway = await gatewayIn(home);
    expect(await svcCommand(home, ["health"])).toMatchObject({ code: 0 });
    const second = await svcCommand(home, ["gateway", "--port", String(gateway.port)]);
    expect([second.code, second.stderr.includes("another gateway instance is already listening")]).toEqual([78, true]);

    const other = await makeCertificate(folder, "other");
    const stranger = await configured(await freshHome(), {
      gateway: { mode: "local", auth: { token }, tls: { enabled: true, certPath: other.cert, keyPath: other.key } },
    });
    const refused = await command(stranger, ["health", "--url", `wss://127.0.0.1:${gateway.port}`, "--token", token]);
    expect(refused.code).not.toBe(0);
    const client = createClient({
      url: `wss://127.0.0.1:${gateway.port}`,
      auth: { token },
      reconnect: false,
      tlsFingerprint: "ab".repeat(32),
    });
    await expect(client.connect()).rejects.toMatchObject({
      message: expect.stringContaining("its certificate is not the one that is expected"),
    });
  });

  test("takes over changed files without dropping a socket, and keeps the old ones while the new are no good", async () => {
    const { home, files, folder } = await homeWith();
    const gateway = await gatewayIn(home);
    const socket = await hello(gateway);
    const before = await served(gateway.port);
    await writeFile(files.cert, "not a certificate");
    await eventually(
      () =>
        gateway.out.stdout.includes("the TLS certificate stays as it was") ||
        gateway.out.stderr.includes("the TLS certificate stays as it was"),
    );
    expect(await served(gateway.port)).toBe(before);

    const next = await makeCertificate(folder, "next");
    await copyFile(next.key, files.key);
    await copyFile(next.cert, files.cert);
    await eventually(async () => (await served(gateway.port)) !== before);
    expect((await socket.request("2", "health")).ok).toBe(true);
    await socket.close();
  });

  test("with authorities takes clients with a certificate of theirs only", async () => {
    const { home, folder } = await homeWith(undefined, { caPath: "pem/people-cert.pem" });
    const people = await makeCertificate(folder, "people");
    const gateway = await gatewayIn(home);
    await expect(ask(gateway.port, "/healthz")).rejects.toThrow();
    const { readFile } = await import("node:fs/promises");
    const mine = { cert: await readFile(people.cert), key: await readFile(people.key) };
    expect(await ask(gateway.port, "/healthz", mine as never)).toBe(200);
  });

  test.each([
    ["a file that is not there", { certPath: "pem/gone.pem" }, /gone\.pem cannot be read \(ENOENT\)/],
    ["a key of another certificate", { keyPath: "pem/other-key.pem" }, /cannot be used together/],
    ["a file that is no PEM", { keyPath: "svc.json" }, /cannot be used together/],
  ])("%s refuses the start with 78", async (_, tls, reason) => {
    const { home, folder } = await homeWith(undefined, tls);
    await makeCertificate(folder, "other");
    const refused = await svcCommand(home, ["gateway"]);
    expect([refused.code, refused.stdout]).toEqual([78, ""]);
    expect(refused.stderr).toMatch(/gateway\.tls: /);
    expect(refused.stderr).toMatch(reason);
  });

  test("without a certificate the config is refused, with the keys to add", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", auth: { token }, tls: { enabled: true } } });
    const refused = await svcCommand(home, ["gateway"]);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain("gateway.tls.enabled: TLS needs gateway.tls.certPath and gateway.tls.keyPath");
  });
});
