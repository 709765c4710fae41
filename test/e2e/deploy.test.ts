import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { door } from "../kernel/_door.ts";
import { BareSocket, connectParams } from "../kernel/_ws.ts";
import { needs, skippedFor } from "../servers/needs.ts";
import { freePorts, listens } from "../servers/ports.ts";
import { root } from "./_cli.ts";

const run = promisify(execFile);
const examples = join(root, "examples/deploy");
const isEngineThere = await run("docker", ["info"], { timeout: 10_000 }).then(
  () => true,
  () => false,
);
const read = (name: string) => readFile(join(examples, name), "utf8");

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-deploy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a server until the test is over, and waits until it listens. */
async function serve(command: string, args: readonly string[], port: number, env = process.env): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk));
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  });
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${printed}`);
    return listens(port);
  }, 20_000);
}

describe("a proxy set up by the example", () => {
  const page = "https://svc.example.com";
  let gateway: TestGateway;
  beforeAll(async () => {
    const settings = { trustedProxies: ["127.0.0.1", "::1"], publicOrigin: page, controlUi: { allowedOrigins: [page] } };
    gateway = await createTestGateway({ plugins: ["store", "devices", door], config: { gateway: settings } });
  });
  afterAll(() => gateway.close());

  /** Answer to an HTTPS request for the example's host. */
  const ask = (port: number, path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, path, servername: "svc.example.com", rejectUnauthorized: false, agent: false };
      const req = request({ ...options, headers: { host: "svc.example.com", ...headers } }, (res) => {
        let body = "";
        res.on("data", (chunk: Buffer) => (body += chunk));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, body }));
      });
      req.on("error", reject);
      req.end();
    });

  /** Checks what every proxy has to do. */
  async function expectProxied(port: number): Promise<void> {
    expect((await ask(port, "/healthz")).status).toBe(200);
    expect((await ask(port, "/door")).status).toBe(401);
    const forged = {
      authorization: `Bearer ${gateway.token}`,
      "x-forwarded-for": "203.0.113.66",
      forwarded: "for=203.0.113.66",
      "x-real-ip": "203.0.113.66",
    };
    expect(JSON.parse((await ask(port, "/door", forged)).body).remote).toMatchObject({ address: "127.0.0.1", directLoopback: false });
    const options = {
      headers: { host: "svc.example.com", origin: page, ...forged },
      rejectUnauthorized: false,
      servername: "svc.example.com",
    };
    const socket = new BareSocket(`wss://127.0.0.1:${port}/`, options);
    await socket.frame((frame) => frame.event === "connect.challenge");
    // A client behind a proxy is not local, whatever it says about itself: it needs a device.
    const refused = await socket.request("c", "connect", connectParams(gateway.token));
    expect(refused.error.details.code).toBe("DEVICE_IDENTITY_REQUIRED");
  }

  needs("nginx", "openssl").test("nginx.conf serves HTTPS, sockets and streams, and lets no client speak for another", async () => {
    const folder = await tempFolder();
    const [port = 0] = await freePorts(1);
    const cert = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "1",
      "-subj",
      "/CN=svc.example.com",
    ];
    await run("openssl", [...cert, "-keyout", join(folder, "privkey.pem"), "-out", join(folder, "fullchain.pem")]);
    const site = (await read("nginx.conf"))
      .replace("127.0.0.1:18789", `127.0.0.1:${gateway.gateway.port}`)
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace(/^\s*listen \[::\]:443 ssl;\n/m, "")
      .replaceAll("/etc/letsencrypt/live/svc.example.com", folder);
    await writeFile(join(folder, "svc.conf"), site);
    const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
    const main = `daemon off; master_process off; pid ${folder}/pid; events {} http { access_log off; ${temp} include ${folder}/svc.conf; }`;
    await writeFile(join(folder, "main.conf"), main);
    await serve("nginx", ["-p", folder, "-c", join(folder, "main.conf"), "-e", join(folder, "error.log")], port);

    await expectProxied(port);
  });

  needs("caddy").test("Caddyfile does the same", async () => {
    const folder = await tempFolder();
    const [port = 0, admin = 0] = await freePorts(2);
    const site = (await read("Caddyfile"))
      .replace("127.0.0.1:18789", `127.0.0.1:${gateway.gateway.port}`)
      .replace("svc.example.com {", `svc.example.com:${port} {\n\ttls internal`);
    const options = `{\n\tadmin 127.0.0.1:${admin}\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n`;
    await writeFile(join(folder, "Caddyfile"), options + site);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    await serve("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], port, env);
    await eventually(async () => (await ask(port, "/healthz").catch(() => undefined))?.status === 200);

    await expectProxied(port);
  });
});

describe("the systemd unit", () => {
  const settings = async (name: string): Promise<Map<string, string>> =>
    new Map(
      (await read(name)).split("\n").flatMap((line) => (/^[A-Z]\w+=/.test(line) ? [line.split(/=(.*)/s, 2) as [string, string]] : [])),
    );

  test("restarts as a supervisor of svc has to, and runs as no administrator", async () => {
    const unit = await settings("svc-gateway.service");
    const wanted = { Restart: "always", RestartSec: "5", RestartPreventExitStatus: "78", TimeoutStopSec: "30", SuccessExitStatus: "0 143" };
    expect(Object.fromEntries(unit)).toMatchObject({ ...wanted, KillMode: "control-group", User: "svc", UMask: "0077" });
    expect([...(await settings("hardening.conf")).keys()]).not.toContain("MemoryDenyWriteExecute");
  });

  needs("systemd-analyze").test("is one that systemd reads without a word, and that with hardening.conf is exposed to little", async () => {
    const folder = await tempFolder();
    await cp(join(examples, "svc-gateway.service"), join(folder, "svc-gateway.service"));
    await mkdir(join(folder, "svc-gateway.service.d"));
    await cp(join(examples, "hardening.conf"), join(folder, "svc-gateway.service.d/hardening.conf"));
    // The verifier looks for the program itself.
    const unit = (await read("svc-gateway.service")).replace("/usr/bin/node", process.execPath);
    await writeFile(join(folder, "svc-gateway.service"), unit);
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` };
    expect((await run("systemd-analyze", ["verify", join(folder, "svc-gateway.service")], { env })).stderr).toBe("");
    const args = ["security", "--offline=true", "--no-pager", "--threshold=20", join(folder, "svc-gateway.service")];
    expect((await run("systemd-analyze", args, { env })).stdout).toContain("Overall exposure level");
  });
});

describe("the image", () => {
  const { test: withEngine } = isEngineThere ? { test } : skippedFor("a container engine");
  withEngine("is built, runs read-only and without root, and is healthy", { timeout: 900_000 }, async () => {
    const name = `svc-test-${process.pid}`;
    onTestFinished(async () => {
      await run("docker", ["rm", "-f", name]).catch(() => undefined);
      await run("docker", ["rmi", "-f", name]).catch(() => undefined);
    });
    await run("docker", ["build", "-t", name, root], { maxBuffer: 64 * 1024 * 1024 });
    const guest = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp"];
    await run("docker", ["run", "-d", "--name", name, ...guest, "-e", "SVC_GATEWAY_TOKEN=a-token-of-a-test", name]);
    const status = () => run("docker", ["inspect", "-f", "{{.State.Health.Status}}", name]).then(({ stdout }) => stdout.trim());
    await eventually(async () => (await status()) === "healthy", 120_000);
    expect((await run("docker", ["exec", name, "id", "-u"])).stdout.trim()).not.toBe("0");
    await run("docker", ["stop", name]);
    expect((await run("docker", ["inspect", "-f", "{{.State.ExitCode}}", name])).stdout.trim()).toBe("0");
  });
});
