import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { request as plainRequest } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { behindModels, configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import { type Home, svcCommand } from "./_process.ts";

/** State directory after gateways with `--https`, once there is one: a certificate costs as much as a start. */
let left: string | undefined;
afterEach(stopAll);
afterAll(() => left !== undefined && rm(left, { recursive: true, force: true }));

const certificateIn = ({ stateDir }: Home) => join(stateDir, "gateway/https");

/** Keeps what gateways have left in a home, for those after them. */
async function keep({ stateDir }: Home): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-https-"));
  await cp(stateDir, folder, { recursive: true });
  left = folder;
  return folder;
}

/** Returns what the first test has kept; where it has not run, a start of its own leaves the same. */
async function leftByStart(): Promise<string> {
  if (left !== undefined) return left;
  const home = await freshDevHome();
  const gateway = await gatewayIn(home, ["--dev", "--https"]);
  await gateway.kill("SIGTERM");
  return keep(home);
}

async function freshDevHome(from?: string): Promise<Home> {
  const own = await freshHome();
  const stateDir = join(own.env.HOME as string, ".svc-dev");
  if (from !== undefined) await cp(from, stateDir, { recursive: true });
  return configured(
    { ...own, stateDir },
    {
      gateway: { mode: "local", auth: { token }, http: { maxBodyBytes: 100_000 } },
      plugins: { allow: [...behindModels.allow, "control-ui"] },
    },
  );
}

/** A home in which gateways with `--https` have been before. */
const devHome = async () => freshDevHome(await leftByStart());

function certificateOf(port: number): Promise<{ serial: string; names: string | undefined }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      const { serialNumber: serial, subjectaltname: names } = socket.getPeerCertificate();
      resolve({ serial, names });
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Status of a request whose body comes in chunks, without a length. */
function send(port: number, path: string, { body, ask = request }: { body?: string; ask?: typeof plainRequest } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path,
      agent: false,
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${token}` },
    };
    const req = ask({ ...options, method: body === undefined ? "GET" : "POST" }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    req.on("error", reject);
    if (body !== undefined) req.write(body);
    req.end();
  });
}

describe("svc --dev gateway --https", () => {
  test("serves HTTPS and WSS with a certificate of its own below the state directory, and shows where", async () => {
    const home = await freshDevHome();
    const gateway = await gatewayIn(home, ["--dev", "--https"]);
    expect(await send(gateway.port, "/healthz")).toBe(200);
    const { serial, names } = await certificateOf(gateway.port);
    expect(names).toContain("DNS:localhost, IP Address:127.0.0.1");
    expect((await stat(join(home.stateDir, "gateway/https/key.pem"))).mode & 0o077).toBe(0);
    expect(await readFile(join(home.stateDir, "gateway/https/cert.pem"), "utf8")).toContain("BEGIN CERTIFICATE");
    expect(gateway.out.stdout).toMatch(
      new RegExp(`Local: +https://127\\.0\\.0\\.1:${gateway.port}/\\n.*WebSocket: +wss://127\\.0\\.0\\.1:${gateway.port}/`),
    );
    expect(gateway.out.stdout).not.toContain("--host");
    expect(await svcCommand(home, ["--dev", "health"])).toMatchObject({ code: 0, stderr: "" });

    await gateway.kill("SIGTERM");
    const again = await gatewayIn(home, ["--dev", "--https"]);
    expect((await certificateOf(again.port)).serial).toBe(serial);
    await again.kill("SIGTERM");
    await keep(home);
  });

  test("is not needed for --dev: without it the port speaks HTTP, also after a start with it", async () => {
    const home = await devHome();
    expect(await readdir(certificateIn(home))).toEqual(["cert.pem", "key.pem"]);
    const gateway = await gatewayIn(home, ["--dev"]);
    expect(await send(gateway.port, "/healthz", { ask: plainRequest })).toBe(200);
    expect(await command(home, ["--dev", "health"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("goes on after a body that is refused while it is still being sent", async () => {
    const gateway = await gatewayIn(await devHome(), ["--dev", "--https"]);
    expect(await send(gateway.port, "/v1/chat/completions", { body: "x".repeat(400_000) })).toBe(413);
    expect(await send(gateway.port, "/healthz")).toBe(200);
    expect(gateway.child.exitCode).toBe(null);
  });

  test("does not move to another port when the one asked for is taken", async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const refused = await svcCommand(await devHome(), ["--dev", "gateway", "--https", "--port", String(port)]);
    other.close();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`port ${port} is in use`)]);
  });

  test("shows the addresses in the network, and a code for a camera, when it listens there", async () => {
    const isNetworked = Object.values(networkInterfaces()).some((list) => list?.some((a) => !a.internal && a.family === "IPv4"));
    const gateway = await gatewayIn(await devHome(), ["--dev", "--https", "--bind", "lan"]);
    const expected = isNetworked ? /█▀▀▀▀▀▀▀█[\s\S]*Network: +https:\/\/[\d.]+:\d+\/ \[QR code\]/ : /Local: +https:\/\//;
    await eventually(() => expected.test(gateway.out.stdout));
    expect(gateway.out.stdout).not.toContain(token);
  });

  test.each([[[]], [["--profile", "work"]]])("is refused without --dev (%j)", async (flags) => {
    const refused = await svcCommand(await configured(await freshHome()), [...flags, "gateway", "--https"]);
    expect(refused).toEqual({
      code: 2,
      stdout: "",
      stderr: "svc: gateway --https: only with --dev; elsewhere set gateway.tls to a certificate of your own\n",
    });
  });
});
