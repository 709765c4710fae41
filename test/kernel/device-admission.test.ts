import { describe, expect, test } from "vitest";
import { type Admission, type AdmissionQuestion, admitDevice, type PassedBy } from "../../kernel/auth/devices/admission.ts";
import { createDeviceConnections } from "../../kernel/auth/devices/device-connections.ts";
import { createDeviceRegistry, type DeviceRegistry } from "../../plugins/devices/device-registry.ts";
import type { DeviceRecord } from "../../plugins/devices/record.ts";
import { type DeviceRows, MAX_PAIRED } from "../../plugins/devices/rows.ts";
import { createDevices } from "../../plugins/devices/service.ts";
import { commonErrors } from "../../sdk/errors.ts";
import { MAX_SHOWN_CHARS } from "../../sdk/internal/shown-name.ts";
import type { ConnectParams } from "../../sdk/protocol/frames.ts";
import type { OperatorScope } from "../../sdk/types/rpc.ts";

const read: OperatorScope[] = ["operator.read"];
const write: OperatorScope[] = ["operator.read", "operator.write"];
const all: OperatorScope[] = [...write, "operator.approvals", "operator.pairing", "operator.admin"];
const here = { address: "127.0.0.1", directLoopback: true };
const away = { address: "203.0.113.9", directLoopback: false };
const secret: PassedBy = { via: "secret" };
const none = { details: { code: "DEVICE_IDENTITY_REQUIRED" }, message: "device identity required" };

type Registry = DeviceRegistry & { events: string[]; connections: ReturnType<typeof createDeviceConnections> };

function openRegistry(change: Partial<DeviceRows> = {}): Registry {
  const kept = new Map<string, DeviceRecord>();
  const events: string[] = [];
  const connections = createDeviceConnections();
  const logger = { debug: () => undefined };
  const rows: DeviceRows = {
    read: async (id) => kept.get(id) && { record: kept.get(id) as DeviceRecord, version: 1 },
    list: async () => [...kept.values()],
    put: async (record) => void kept.set(record.deviceId, record),
    remove: async (id) => void kept.delete(id),
    ...change,
  };
  const registry = createDeviceRegistry({
    ...{ rows, logger, now: () => 1, monotonic: () => 1, randomId: () => "request-1" },
    emit: (event, payload) => events.push(`${event} ${(payload as { decision?: string }).decision ?? ""}`.trim()),
    end: connections.end,
  });
  return Object.assign(registry, { events, connections });
}

interface Asked {
  client?: string;
  role?: "operator" | "node";
  scopes?: string[];
  from?: typeof here;
  passed?: PassedBy;
  device?: boolean;
  platform?: string;
  displayName?: string;
}

async function ask(registry: Registry, asked: Asked): Promise<Admission> {
  const [id, mode] = (asked.client ?? "gateway-client/backend").split("/");
  const device = { id: "d", publicKey: "k", signature: "s", signedAt: 1, nonce: "n" };
  const connect = {
    ...{
      minProtocol: 4,
      maxProtocol: 4,
      client: { id, mode, version: "1", platform: asked.platform ?? "linux", displayName: asked.displayName },
    },
    ...(asked.scopes ? { scopes: asked.scopes } : {}),
    ...(asked.device ? { device } : {}),
  } as ConnectParams;
  const question: AdmissionQuestion = {
    ...{ connect, role: asked.role ?? "operator", remote: asked.from ?? here, passed: asked.passed ?? secret },
    deviceId: asked.device ? "d" : undefined,
  };
  return admitDevice(question, { devices: () => createDevices(registry, () => 1), standing: registry.connections.standing });
}

describe("without a device, direct loopback with the secret", () => {
  test.each<[string, string[], string[]]>([
    ["gateway-client/backend", all, all],
    ["cli/cli", all, all],
    ["svc-control-ui/ui", write, write],
    ["svc-control-ui/webchat", write, write],
    ["cli/probe", all, read],
    ["svc-probe/probe", all, read],
    ["cli/backend", all, []],
    ["gateway-client/cli", all, []],
    ["test/test", all, []],
    ["webchat/webchat", write, []],
    ["gateway-client/backend", [], []],
    ["gateway-client/backend", ["operator.*", "OPERATOR.ADMIN", " operator.admin", "operator.read", "operator.read"], read],
  ])("%s that asks for %j is granted %j", async (client, scopes, granted) => {
    expect(await ask(openRegistry(), { client, scopes })).toEqual({ scopes: granted });
  });
});

describe("a device that was invited", () => {
  const byInvitation = (token: string, ceiling: OperatorScope[]): PassedBy => ({ via: "invitation", token, ceiling });

  test.each([
    ["here", here],
    ["away", away],
  ])("is paired from %s without a question, with no more than whoever invited it, and the invitation ends", async (_, from) => {
    const registry = openRegistry();
    const { token, scopes } = registry.invitations.make({ scopes: write, isHere: () => true });

    const admission = await ask(registry, { device: true, from, passed: byInvitation(token, [...scopes]), scopes: all });

    expect(admission).toMatchObject({ scopes: write, deviceId: "d", issued: { deviceToken: expect.any(String) } });
    expect(await registry.find("d")).toMatchObject({ approvedVia: "owner", scopes: write });
    expect(registry.events).toEqual(["device.pair.resolved approved"]);
    const again = ask(registry, { device: true, from, passed: byInvitation(token, [...scopes]), scopes: read });
    await expect(again).rejects.toMatchObject({ details: { code: "AUTH_BOOTSTRAP_TOKEN_MISMATCH" } });
  });

  test("is not let in where it cannot be paired, though it stands on this machine", async () => {
    const gone = commonErrors.serviceUnavailable({ service: "store@2" });
    const registry = openRegistry({ put: () => Promise.reject(gone) });
    const { token } = registry.invitations.make({ scopes: write, isHere: () => true });
    await expect(ask(registry, { device: true, passed: byInvitation(token, write), scopes: write })).rejects.toBe(gone);
    expect(registry.invitations.find(token)).toBeDefined();
    await expect(ask(registry, { passed: byInvitation(token, write), scopes: write })).rejects.toMatchObject(none);
  });
});

describe("without a device", () => {
  test("a caller from elsewhere is refused, and a node from anywhere", async () => {
    for (const from of [here, away]) await expect(ask(openRegistry(), { role: "node", from })).rejects.toMatchObject(none);
    await expect(ask(openRegistry(), { from: away, scopes: read })).rejects.toMatchObject(none);
    const identity: PassedBy = { via: "identity", ceiling: all };
    await expect(ask(openRegistry(), { from: away, passed: identity, scopes: read })).rejects.toMatchObject(none);
  });

  test("whom a proxy vouches for has what it asks for up to the ceiling, whatever client it is", async () => {
    const passed: PassedBy = { via: "proxy", ceiling: write };
    expect(await ask(openRegistry(), { client: "test/test", from: away, passed, scopes: all })).toEqual({ scopes: write });
    await expect(ask(openRegistry(), { from: away, passed, role: "node" })).rejects.toMatchObject(none);
  });
});

describe("a device on direct loopback with the secret", () => {
  test("is paired silently with what it asks for, also as a client that would have nothing without it, also as a node", async () => {
    const registry = openRegistry();
    const admission = await ask(registry, { device: true, client: "test/test", scopes: write });
    const issued = { deviceToken: expect.any(String), issuedAtMs: 1 };
    expect(admission).toMatchObject({ scopes: write, deviceId: "d", issued });
    expect(await ask(registry, { device: true, role: "node", scopes: write })).toMatchObject({ scopes: [], deviceId: "d", issued });
    expect(await registry.find("d")).toMatchObject({ approvedVia: "silent", roles: ["operator", "node"], scopes: write });
    expect(registry.events).toEqual(["device.pair.resolved approved", "device.pair.resolved approved"]);
  });

  test("that asks for more, or came with another platform, is approved for it silently", async () => {
    const registry = openRegistry();
    await ask(registry, { device: true, scopes: read });
    expect(await ask(registry, { device: true, scopes: all, platform: "windows" })).toMatchObject({ scopes: all });
    expect(await registry.find("d")).toMatchObject({ scopes: all, platform: "windows" });
  });

  test("that only probes leaves nothing behind and may read", async () => {
    const registry = openRegistry();
    expect(await ask(registry, { device: true, client: "cli/probe", scopes: all })).toEqual({ scopes: read });
    expect(await registry.list()).toEqual([]);
  });

  test("gets in where it needs no device although as many are paired as there may be", async () => {
    const rows = Array.from({ length: MAX_PAIRED }, (_, i) => ({ deviceId: `other-${i}` }) as DeviceRecord);
    const registry = openRegistry({ list: async () => rows });
    expect(await ask(registry, { device: true, client: "svc-control-ui/ui", scopes: all })).toEqual({ scopes: all });
    await expect(ask(registry, { device: true, client: "test/test", scopes: read })).rejects.toMatchObject({ code: "device-limit" });
  });

  test("gets in where it needs no device although the record cannot be had; where it needs one it is told to come back", async () => {
    const down = async () => {
      throw commonErrors.serviceUnavailable({ service: "store@2" });
    };
    const registry = openRegistry({ read: down });
    expect(await ask(registry, { device: true, scopes: all })).toEqual({ scopes: all });
    const unavailable = { code: "service-unavailable", spec: { rpc: "UNAVAILABLE" } };
    await expect(ask(registry, { device: true, client: "test/test", scopes: read })).rejects.toMatchObject(unavailable);
    await expect(ask(registry, { device: true, role: "node" })).rejects.toMatchObject(unavailable);
    await expect(ask(registry, { device: true, from: away, scopes: read })).rejects.toMatchObject(unavailable);
  });
});

describe("a device from elsewhere with the secret", () => {
  const refusal = (reason: string, more: object = {}) => ({
    code: "pairing-required",
    message: "pairing required: device is not approved yet",
    details: expect.objectContaining({ code: "PAIRING_REQUIRED", reason, requestId: "request-1", deviceId: "d", ...more }),
  });

  test("that nobody knows waits for approval, and then has what it asked for", async () => {
    const registry = openRegistry();
    const asked = { device: true, from: away, scopes: write };
    await expect(ask(registry, asked)).rejects.toMatchObject(
      refusal("not-paired", {
        requestedRole: "operator",
        requestedScopes: write,
        remediationHint: "Approve this device from the pending pairing requests.",
      }),
    );
    expect(registry.pending.list()).toMatchObject([
      { remoteIp: "203.0.113.9", scopes: write, roles: ["operator"], silent: false, isRepair: false },
    ]);
    await registry.approve("request-1");
    expect(await ask(registry, asked)).toMatchObject({ scopes: write, deviceId: "d", issued: { issuedAtMs: 1 } });
    expect(await ask(registry, { ...asked, scopes: read })).toMatchObject({ scopes: read });
  });

  test.each<[string, Asked]>([
    ["scope-upgrade", { scopes: all }],
    ["role-upgrade", { role: "node" }],
    ["metadata-upgrade", { scopes: read, platform: "windows" }],
  ])("waits again for a %s, told what it has already", async (reason, change) => {
    const registry = openRegistry();
    await ask(registry, { device: true, scopes: write });
    await expect(ask(registry, { device: true, from: away, ...change })).rejects.toMatchObject(
      refusal(reason, { approvedRoles: ["operator"], approvedScopes: write }),
    );
    expect(registry.pending.list()).toMatchObject([{ isRepair: true }]);
    expect(await registry.find("d")).toMatchObject({ scopes: write, roles: ["operator"], platform: "linux" });
  });
});

test("a device gets no token by the word of a user who may have less than was approved for it, and keeps the one it has", async () => {
  const registry = openRegistry();
  await ask(registry, { device: true, scopes: all });
  const before = (await registry.find("d"))?.tokens;
  const guest: PassedBy = { via: "identity", ceiling: read };
  const admission = await ask(registry, { device: true, from: away, passed: guest, scopes: all });
  expect(admission).toEqual({ scopes: read, deviceId: "d", standing: expect.any(AbortSignal) });
  expect((await registry.find("d"))?.tokens).toEqual(before);
  expect(await ask(registry, { device: true, passed: { via: "identity", ceiling: all }, scopes: read })).toHaveProperty(
    "issued.deviceToken",
  );
});

test("what a device calls itself is one short line without marks that mislead whoever approves it", async () => {
  const registry = openRegistry();
  const displayName = `Phone\u001b[2J\r\n\u202eadmin ${"x".repeat(60_000)}`;
  await expect(ask(registry, { device: true, from: away, scopes: read, displayName, platform: "linux\u0007" })).rejects.toThrow("pairing");
  const [pending] = registry.pending.list();
  expect(pending).toMatchObject({ displayName: expect.stringMatching(/^Phone \[2J admin x+$/), platform: "linux" });
  expect(pending?.displayName?.length).toBeLessThanOrEqual(MAX_SHOWN_CHARS);
});

test("a device whose user a plugin or a proxy named is not paired by that", async () => {
  const registry = openRegistry();
  const proxy: PassedBy = { via: "proxy", ceiling: write };
  expect(await ask(registry, { device: true, from: away, passed: proxy, scopes: all })).toEqual({ scopes: write });
  expect(await ask(registry, { device: true, passed: { via: "identity", ceiling: read }, scopes: all })).toEqual({ scopes: read });
  expect([...(await registry.list()), ...registry.pending.list()]).toEqual([]);
});

describe("a device token", () => {
  const paired = async () => {
    const registry = openRegistry();
    const { issued } = await ask(registry, { device: true, scopes: write });
    const passed = { via: "device-token", token: issued?.deviceToken ?? "" } as const;
    return { registry, passed };
  };

  test.each<[string, string[] | undefined, string[]]>([
    ["gives its scopes when none are asked for", undefined, write],
    ["gives its scopes for an empty list", [], write],
    ["gives what is asked for within them", read, read],
    ["gives nothing for scopes that do not exist", ["operator.*"], []],
  ])("%s, and is told back with its age", async (_, scopes, granted) => {
    const { registry, passed } = await paired();
    const admission = await ask(registry, { device: true, from: away, passed, ...(scopes ? { scopes } : {}) });
    expect(admission).toMatchObject({ scopes: granted, deviceId: "d", issued: { deviceToken: passed.token, issuedAtMs: 1 } });
  });

  test("is too narrow for more than its scopes, whatever the device was approved for", async () => {
    const { registry, passed } = await paired();
    await expect(ask(registry, { device: true, from: away, passed, scopes: all })).rejects.toMatchObject({
      message: expect.stringMatching(/^unauthorized: device token scope mismatch \(/),
      details: { code: "AUTH_SCOPE_MISMATCH", authReason: "scope_mismatch", recommendedNextStep: "review_auth_configuration" },
    });
  });

  test("does not carry over to a device that has changed, not even on this machine", async () => {
    const { registry, passed } = await paired();
    for (const from of [here, away]) {
      await expect(ask(registry, { device: true, from, passed, platform: "windows" })).rejects.toMatchObject({
        details: { reason: "metadata-upgrade" },
      });
    }
  });
});

test("a token that is revoked between its check and the admission opens nothing", async () => {
  const registry = openRegistry();
  const { issued } = await ask(registry, { device: true, scopes: read });
  const passed: PassedBy = { via: "device-token", token: issued?.deviceToken ?? "" };

  await registry.revoke("d", "operator");

  await expect(ask(registry, { device: true, from: away, passed, scopes: read })).rejects.toMatchObject({ code: "unauthorized" });
});

test("a device that is removed after its record was read is not let in", async () => {
  const registry = openRegistry();
  await ask(registry, { device: true, scopes: all });
  const guest: PassedBy = { via: "identity", ceiling: read };
  const { find } = registry;
  registry.find = async (id) => {
    registry.find = find;
    const record = await find(id);
    await registry.remove(id);
    return record;
  };

  await expect(ask(registry, { device: true, from: away, passed: guest, scopes: read })).rejects.toMatchObject({ code: "unauthorized" });
});

describe("a device that is removed and paired again with less between two reads of its record", () => {
  const repaired = async (scopes: OperatorScope[]) => {
    const registry = openRegistry();
    await ask(registry, { device: true, scopes: all });
    const { find } = registry;
    registry.find = async (id) => {
      registry.find = find;
      const record = await find(id);
      await registry.remove(id);
      await ask(registry, { device: true, scopes });
      return record;
    };
    return registry;
  };

  test("is let in with no more than it is approved for now, and waits for the rest", async () => {
    const registry = await repaired(read);

    const asked = ask(registry, { device: true, from: away, scopes: all });

    await expect(asked).rejects.toMatchObject({ code: "pairing-required", details: { reason: "scope-upgrade", approvedScopes: read } });
    expect(registry.pending.list()).toMatchObject([{ scopes: all, isRepair: true }]);
    expect(await registry.find("d")).toMatchObject({ scopes: read });
  });

  test("goes on without the device where it needs none, and gets no token", async () => {
    const registry = await repaired(read);
    expect(await ask(registry, { device: true, client: "test/test", scopes: all })).toEqual({ scopes: [] });
    expect(await registry.find("d")).toMatchObject({ scopes: read });
  });

  test("is let in as before when what it has now is enough", async () => {
    const registry = await repaired(write);
    expect(await ask(registry, { device: true, from: away, scopes: read })).toMatchObject({ scopes: read, deviceId: "d" });
  });
});
