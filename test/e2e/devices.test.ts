import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askToPair, connectDevice, createDevice, far } from "../kernel/_devices.ts";
import { configured, freshHome, gatewayIn, json, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

const scopes = ["operator.read", "operator.pairing"];
let home: Home;
let gateway: Running;
beforeAll(async () => {
  // The proxy on this machine lets a test come from far away.
  home = await configured(await freshHome(), { gateway: { mode: "local", auth: { token }, trustedProxies: ["127.0.0.1"] } });
  gateway = await gatewayIn(home);
});
afterAll(stopAll);

const here = () => ({ wsUrl: gateway.url.replace("http", "ws"), token });
const away = { scopes, headers: far() };
const paired = async (id: string) => {
  const { value } = await json(home, ["devices", "list"]);
  return (value.paired as Array<Record<string, unknown>>).find(({ deviceId }) => deviceId === id);
};

describe("a device from elsewhere", () => {
  test("waits, is approved with the line that the list shows, and its token outlives a killed gateway", async () => {
    const device = createDevice();
    const requestId = await askToPair(here(), device, { scopes });
    const { stdout } = await svcCommand(home, ["devices", "list"]);
    expect(stdout).toContain("gateway-client from 203.0.113.9 waits for approval: operator read,pairing");
    expect(stdout).toContain(`svc devices approve ${requestId}`);

    const approved = await svcCommand(home, ["devices", "approve", requestId]);
    expect(approved).toMatchObject({ code: 0, stdout: `Approved gateway-client (${device.id}); it gets in with its next attempt.\n` });
    const { deviceToken } = (await connectDevice(here(), device, away)).hello.auth;

    await gateway.kill("SIGKILL");
    gateway = await gatewayIn(home);

    const back = await connectDevice(here(), device, { ...away, auth: { deviceToken } });
    expect(back.hello.auth).toMatchObject({ scopes, deviceToken });
    expect(await paired(device.id)).toMatchObject({ approvedVia: "owner", connected: true });
    expect((await svcCommand(home, ["devices", "list"])).stdout).toMatch(
      new RegExp(`^${device.id} +gateway-client +operator +read,pairing +now +operator$`, "m"),
    );
    await back.close();
  });

  test("is turned away, loses its token, or is forgotten by command", async () => {
    const device = createDevice();
    const first = await askToPair(here(), device, { scopes });
    expect(await command(home, ["devices", "reject", first])).toMatchObject({ code: 0, stdout: `Rejected ${device.id}.\n` });
    const requestId = await askToPair(here(), device, { scopes });
    expect(await commandJson(home, ["devices", "approve", requestId])).toMatchObject({
      code: 0,
      value: { ok: true, requestId, device: { scopes } },
    });

    const socket = await connectDevice(here(), device, away);
    const rotated = await commandJson(home, ["devices", "rotate", device.id, "--scopes", "read"]);
    expect(rotated).toMatchObject({ code: 0, value: { deviceId: device.id, role: "operator", scopes: ["operator.read"], stored: false } });
    expect(JSON.stringify(rotated.value)).not.toContain('"token"');
    expect(await socket.end()).toEqual({ code: 4001, reason: "device token revoked" });

    const again = await connectDevice(here(), device, away);
    const revoked = await command(home, ["devices", "revoke", device.id]);
    expect(revoked).toMatchObject({ code: 0, stdout: `${device.id}: the operator token is revoked.\n` });
    expect(await again.end()).toEqual({ code: 4001, reason: "device token revoked" });
    expect((await command(home, ["devices", "list"])).stdout).toContain("operator (revoked)");

    expect(await commandJson(home, ["devices", "revoke", device.id, "--forget"])).toMatchObject({
      code: 0,
      value: { ok: true, deviceId: device.id },
    });
    expect(await paired(device.id)).toBeUndefined();
  });
});

describe("the device of these commands themselves, used beyond loopback names", () => {
  const remote = () => ["--url", here().wsUrl.replace("127.0.0.1", "0.0.0.0")];
  const identity = async () => JSON.parse(await readFile(join(home.stateDir, "identity", "device.json"), "utf8"));
  const tokens = async () => Object.values((await identity()).tokens);

  test("is made by a command that works with the gateway, not by one that only looks", async () => {
    expect((await command(home, ["gateway", "status", ...remote(), "--token", token])).code).toBe(0);
    await expect(identity()).rejects.toMatchObject({ code: "ENOENT" });
    expect((await command(home, ["devices", "list", ...remote(), "--token", token])).code).toBe(0);
    expect(await tokens()).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  });

  test("signs in with its token alone, and stores the one that it has rotated", async () => {
    const { value } = await commandJson(home, ["devices", "list", ...remote()]);
    const own = (value.paired as Array<Record<string, unknown>>).find(({ clientId, connected }) => clientId === "cli" && connected);
    const before = await tokens();
    const rotated = await command(home, ["devices", "rotate", String(own?.deviceId), ...remote()]);
    expect(rotated).toMatchObject({ code: 0, stdout: `${own?.deviceId}: the operator token was replaced and stored here.\n` });
    expect(await tokens()).not.toEqual(before);
    expect((await command(home, ["devices", "list", ...remote()])).code).toBe(0);
  });
});

test("what is not there, or is no scope, is said in one line", async () => {
  expect(await commandJson(home, ["devices", "approve", "nothing"])).toMatchObject({
    code: 1,
    value: { ok: false, error: { type: "rpc", message: "unknown requestId" } },
  });
  const usage = await command(home, ["devices", "rotate", "x", "--scopes", "read,king"]);
  expect([usage.code, usage.stderr]).toEqual([
    2,
    expect.stringContaining('--scopes: expected some of read, write, approvals, pairing, admin, got "king"'),
  ]);
  const help = await svcCommand(home, ["--help"]);
  for (const command of ["devices approve", "devices list", "devices reject", "devices revoke", "devices rotate"])
    expect(help.stdout).toContain(command);
});

test("a gateway with no device says so", async () => {
  const empty = await configured(await freshHome(), { gateway: { mode: "local", auth: { token } } });
  await gatewayHere(empty);
  expect(await command(empty, ["devices", "list"])).toMatchObject({ code: 0, stdout: "No device is paired, and none waits.\n" });
});
