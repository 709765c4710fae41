import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type FakeTailscale, FROM, fakeTailscale, machineName } from "../fakes/tailscale.ts";
import { createDevice, dial } from "./_devices.ts";
import { door } from "./_door.ts";
import { editAndApply, quickReload } from "./_reload.ts";
import { type BareSocket, challenged, connectParams } from "./_ws.ts";

const ada = "100.101.102.103";
const stranger = "100.101.102.104";
const people = { [ada]: "ada@example.com" };
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function folderFor(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-tailscale-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe("with gateway.tailscale.mode serve", () => {
  let folder: string;
  let tailscale: FakeTailscale;
  let gateway: TestGateway;
  /** Port of the proxy. */
  let port: number;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-tailscale-"));
    tailscale = await fakeTailscale(folder, { people });
    gateway = await createTestGateway({
      plugins: ["store", "devices", "tailscale", door],
      env: { ...tailscale.env, SVC_GATEWAY_PASSWORD: "secret" },
      config: { gateway: { auth: { token: "test-token-5f2d9a" }, tailscale: { mode: "serve", resetOnExit: true }, reload: quickReload } },
    });
    port = (await tailscale.runs()).find((run) => run.argv[0] === "serve")?.port ?? 0;
  });
  afterAll(async () => {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  });
  const proxy = () => ({ wsUrl: `ws://127.0.0.1:${port}`, token: gateway.token });
  const bare = { auth: {}, scopes: ["operator.read"] };
  const codeOf = async (socket: BareSocket) => (await socket.request("c", "connect", { ...connectParams(""), ...bare })).error.details.code;

  test("the port is published in the foreground, and no variable of svc reaches the program", async () => {
    const [, serve] = await tailscale.runs();
    expect(serve).toMatchObject({ argv: ["serve", "--yes", `http://127.0.0.1:${gateway.gateway.port}`], leaked: [] });
    expect(gateway.logs.map(({ message }) => message)).toContain(`published in the tailnet as https://${machineName}/`);
  });

  test("a page of that address may use the gateway, any other may not", async () => {
    const own = await challenged(proxy(), { [FROM]: stranger, origin: `https://${machineName}` });
    expect(await codeOf(own)).toBe("AUTH_TOKEN_MISSING");
    const other = await challenged(proxy(), { [FROM]: stranger, origin: "https://evil.example" });
    expect(await codeOf(other)).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });

  test("somebody whom the tailnet knows needs no token, but a device that an operator has approved", async () => {
    expect(await codeOf(await challenged(proxy(), { [FROM]: ada }))).toBe("DEVICE_IDENTITY_REQUIRED");
    const device = createDevice();
    const asked = await (await dial(proxy(), { [FROM]: ada })).connect(device, bare);
    expect(asked.error.details).toMatchObject({ code: "PAIRING_REQUIRED" });
    await gateway.rpc("device.pair.approve", { requestId: asked.error.details.requestId });
    const socket = await dial(proxy(), { [FROM]: ada });
    expect((await socket.connect(device, bare)).payload.auth).toMatchObject({ scopes: ["operator.read"] });
    await socket.close();
  });

  test("the header alone opens nothing, nor does a name that is not the one behind the address", async () => {
    const name = { "tailscale-user-login": "ada@example.com" };
    const proxied = { ...name, "x-forwarded-proto": "https", host: machineName };
    const forged = [
      await challenged(gateway, name),
      await challenged(gateway, { ...proxied, "x-forwarded-for": stranger }),
      await challenged(gateway, { ...proxied, "x-forwarded-for": "203.0.113.9" }),
      await challenged(gateway, { ...proxied, "x-forwarded-for": `${ada}, 127.0.0.1` }),
      await challenged(proxy(), { ...name, [FROM]: stranger }),
    ];
    for (const socket of forged) expect(await codeOf(socket)).toBe("AUTH_TOKEN_MISSING");
    const asked = (await tailscale.runs()).filter(({ argv }) => argv[0] === "whois").map(({ argv }) => argv.at(-1));
    expect(asked).not.toContain("203.0.113.9");
  });

  test("the HTTP APIs ask for the token all the same", async () => {
    const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/door`, { headers: { [FROM]: ada, ...headers } });
    expect((await ask({})).status).toBe(401);
    const known = await ask({ authorization: `Bearer ${gateway.token}` });
    expect(known.status).toBe(200);
    expect(await known.json()).toMatchObject({ remote: { address: ada, directLoopback: false } });
  });

  test("who came in by a name is out when names do not count any more", async () => {
    const device = createDevice();
    const asked = await (await dial(proxy(), { [FROM]: ada })).connect(device, bare);
    await gateway.rpc("device.pair.approve", { requestId: asked.error.details.requestId });
    const socket = await dial(proxy(), { [FROM]: ada });
    await socket.connect(device, bare);

    await editAndApply(gateway, (config) => (config.gateway.auth.allowTailscale = false));

    expect(await socket.end()).toEqual({ code: 4001, reason: "gateway policy changed" });
    expect(await codeOf(await challenged(proxy(), { [FROM]: ada }))).toBe("AUTH_TOKEN_MISSING");
  });

  test("a program that ends by itself is started again, and health tells of it", async () => {
    const [, first] = await tailscale.runs();
    if (first === undefined) throw new Error("it never ran");
    process.kill(first.pid, "SIGKILL");
    await eventually(async () => (await gateway.rpc<{ problems?: object }>("health", { probe: true })).problems !== undefined);
    const serves = () => tailscale.runs().then((runs) => runs.filter(({ argv }) => argv[0] === "serve"));
    const again = await eventually(async () => (await serves())[1]);
    expect(again.pid).not.toBe(first.pid);
  });

  test("the end of the gateway ends it, and takes back what was published", async () => {
    await gateway.close();
    const runs = await tailscale.runs();
    expect(runs.at(-1)?.argv).toEqual(["serve", "reset"]);
    expect(runs.filter(({ argv, pid }) => argv[1] === "--yes" && isRunning(pid))).toEqual([]);
  });
});

describe("a gateway whose port cannot be published does not start", () => {
  let tailscale: FakeTailscale;
  beforeEach(async () => {
    tailscale = await fakeTailscale(await folderFor());
  });
  const start = (mode: "serve" | "funnel" = "serve", env: Record<string, string> = tailscale.env) =>
    createTestGateway({
      plugins: ["tailscale"],
      env,
      config: { gateway: { auth: { mode: "password", password: "a good password" }, tailscale: { mode } } },
    });

  test.each<[string, Parameters<FakeTailscale["set"]>[0], string]>([
    ["when it is logged out", { backendState: "NeedsLogin" }, "tailscale is not connected (NeedsLogin); run tailscale up"],
    [
      "when another one is in the way",
      { refusal: "foreground listener already exists for port 443" },
      "ended with code 1: foreground listener",
    ],
    [
      "when the program ends because the tailnet does not allow it",
      { refusal: "Serve is not enabled on your tailnet.\nTo enable, visit:\n\n   https://login.tailscale.com/f/serve?node=nXYZ" },
      "enable it: https://login.tailscale.com/f/serve?node=nXYZ",
    ],
    [
      "when the tailnet does not allow it",
      { advice: "Serve is not enabled on your tailnet.\nTo enable, visit:\n\n   https://login.tailscale.com/f/serve?node=nXYZ" },
      "enable it: https://login.tailscale.com/f/serve?node=nXYZ",
    ],
  ])("%s", async (_, state, message) => {
    await tailscale.set(state);
    await expect(start("funnel")).rejects.toMatchObject({ code: "tailscale-failed", message: expect.stringContaining(message) });
  });

  test("without the program", async () => {
    await expect(start("serve", { PATH: "/nowhere" })).rejects.toThrow("there is no program tailscale on the PATH; install Tailscale");
  });

  test("and funnel, once it works, publishes for everybody and believes no name", async () => {
    await tailscale.set({ people });
    const gateway = await start("funnel");
    onTestFinished(() => gateway.close());
    const run = (await tailscale.runs()).find(({ argv }) => argv[0] === "funnel");
    const socket = await challenged({ wsUrl: `ws://127.0.0.1:${run?.port}` }, { [FROM]: "203.0.113.9" });
    const refusal = await socket.request("c", "connect", { ...connectParams(""), auth: {} });
    expect(refusal.error.details.code).toBe("AUTH_PASSWORD_MISSING");
  });
});
