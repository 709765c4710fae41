import type { OperatorScope, PairingRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { createDeviceRegistry } from "./device-registry.ts";
import { upgradeReason } from "./pairing-request.ts";
import type { DeviceRecord, PendingDevice } from "./record.ts";
import { type DeviceRows, MAX_PAIRED } from "./rows.ts";
import { checkDeviceToken } from "./tokens.ts";

const read: OperatorScope[] = ["operator.read"];
const write: OperatorScope[] = ["operator.read", "operator.write"];

/** Refusal of the store. */
const changed = () => Object.assign(new Error("another writer was faster"), { name: "SvcError", code: "kv-changed", spec: {}, fields: {} });

const turn = () => new Promise((resolve) => setImmediate(resolve));

function setup(change: Partial<DeviceRows> = {}) {
  const kept = new Map<string, DeviceRecord>();
  const versions = new Map<string, number>();
  let lastVersion = 0;
  const rows: DeviceRows = {
    read: async (id) => kept.get(id) && { record: kept.get(id) as DeviceRecord, version: versions.get(id) ?? 0 },
    list: async () => [...kept.values()],
    async put(record, version) {
      await turn(); // a commit takes its time
      if (versions.get(record.deviceId) !== version) throw changed();
      kept.set(record.deviceId, structuredClone(record));
      versions.set(record.deviceId, ++lastVersion);
    },
    async remove(id, version) {
      await turn();
      if (versions.get(id) !== version) throw changed();
      kept.delete(id);
      versions.delete(id);
    },
    ...change,
  };
  const time = { now: 1_000 };
  const events: Array<[string, object]> = [];
  /** Connections that were ended. */
  const ended: unknown[][] = [];
  let ids = 0;
  const logger = { debug: () => undefined };
  const registry = createDeviceRegistry({
    ...{ rows, logger, now: () => time.now, monotonic: () => time.now, randomId: () => `r${++ids}` },
    emit: (event, payload) => events.push([event, payload]),
    end: (...which) => ended.push(which),
  });
  return { registry, kept, versions, time, events, rows, ended };
}

const request = (change: Partial<PairingRequest> = {}): PairingRequest => ({
  ...{ deviceId: "d", publicKey: "k", platform: "linux", clientId: "cli", clientMode: "cli", role: "operator", scopes: read },
  ...change,
});
const waiting = (change: Partial<PairingRequest> = {}): Omit<PendingDevice, "requestId"> => {
  const { role, ...rest } = request(change);
  return { ...rest, role, roles: [role], silent: false, isRepair: false, ts: 1, remoteIp: "203.0.113.9" };
};

describe("an approval", () => {
  test("pairs the device with what it asked for, and says so", async () => {
    const { registry, kept, events } = setup();
    const { requestId } = registry.pending.ask(waiting({ displayName: "Phone" }));

    await registry.approve(requestId);

    expect(kept.get("d")).toEqual({
      ...{ deviceId: "d", publicKey: "k", displayName: "Phone", platform: "linux", clientId: "cli", clientMode: "cli" },
      ...{
        roles: ["operator"],
        scopes: read,
        approvedVia: "owner",
        createdAtMs: 1_000,
        approvedAtMs: 1_000,
        lastSeenAtMs: 1_000,
        tokens: [],
      },
    });
    expect(events).toEqual([
      ["device.pair.requested", { ...waiting({ displayName: "Phone" }), requestId }],
      ["device.pair.resolved", { requestId, deviceId: "d", decision: "approved", ts: 1_000 }],
    ]);
    await expect(registry.approve(requestId)).rejects.toMatchObject({ code: "unknown-request" });
  });

  test("that cannot be written leaves the request waiting", async () => {
    const { registry, events } = setup({ put: () => Promise.reject(new Error("disk full")) });
    const { requestId } = registry.pending.ask(waiting());
    await expect(registry.approve(requestId)).rejects.toThrow("disk full");
    expect(registry.pending.list()).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  test.each<[string, Partial<PairingRequest>, string[]]>([
    ["is over for a device that asked for the same again meanwhile", {}, []],
    ["leaves what the device asked for beyond it meanwhile", { scopes: write }, ["r2"]],
  ])("%s", async (_, change, left) => {
    const { registry, events } = setup();
    const { requestId } = registry.pending.ask(waiting());

    const approving = registry.approve(requestId);
    registry.pending.ask(waiting(change));
    await approving;

    expect(registry.pending.list().map((device) => device.requestId)).toEqual(left);
    const approved = events.filter(([event]) => event === "device.pair.resolved").map(([, payload]) => payload);
    expect(approved).toMatchObject(["r1", "r2"].filter((id) => !left.includes(id)).map((id) => ({ requestId: id, decision: "approved" })));
  });

  test("that ends while the record is read is in what was read, so that the device need not ask again", async () => {
    const { registry, rows } = setup();
    const { read } = rows;
    const before = await read("d");
    let release: () => void = () => undefined;
    rows.read = (id) => {
      rows.read = read;
      return new Promise((resolve) => (release = () => resolve(id === "d" ? before : undefined)));
    };

    const found = registry.find("d");
    await registry.approve(registry.pending.ask(waiting()).requestId);
    release();

    expect(await found).toMatchObject({ deviceId: "d", approvedVia: "owner" });
  });

  test("of a paired device adds to what it had, its token's scopes included, and keeps its label and the rights of other roles", async () => {
    const { registry, kept, time } = setup();
    await registry.pairSilently(request());
    const { deviceToken } = await registry.issue("d", "operator");
    await registry.rename("d", "Kitchen");
    time.now = 2_000;
    await registry.approve(registry.pending.ask(waiting({ scopes: write })).requestId);
    await registry.approve(registry.pending.ask(waiting({ role: "node", scopes: [] })).requestId);

    const record = kept.get("d") as DeviceRecord;
    expect(record).toMatchObject({ label: "Kitchen", roles: ["operator", "node"], scopes: write, createdAtMs: 1_000, approvedAtMs: 2_000 });
    expect(checkDeviceToken(record, "operator", deviceToken)).toMatchObject({ verdict: "valid", entry: { scopes: write } });
    expect(checkDeviceToken(record, "node", deviceToken)).toEqual({ verdict: "unknown" });
  });

  test("of one device more than 1,000 is refused", async () => {
    const { registry, kept } = setup();
    for (let i = 0; i < MAX_PAIRED - 1; i++) kept.set(`old${i}`, {} as DeviceRecord);
    await registry.pairSilently(request({ deviceId: "last" }));
    await expect(registry.pairSilently(request())).rejects.toMatchObject({ code: "device-limit", details: { code: "DEVICE_LIMIT" } });
    await registry.pairSilently(request({ deviceId: "last", scopes: write }));
  });
});

test("a rejection says so and pairs nobody", () => {
  const { registry, kept, events } = setup();
  const { requestId } = registry.pending.ask(waiting());
  registry.reject(requestId);
  expect(events.at(-1)).toEqual(["device.pair.resolved", { requestId, deviceId: "d", decision: "rejected", ts: 1_000 }]);
  expect(kept.size).toBe(0);
});

describe("a token", () => {
  test("is 32 random bytes of which only the digest is kept", async () => {
    const { registry, kept } = setup();
    await registry.pairSilently(request());
    const { deviceToken, issuedAtMs } = await registry.issue("d", "operator");
    expect(Buffer.from(deviceToken, "base64url")).toHaveLength(32);
    expect(issuedAtMs).toBe(1_000);
    expect(JSON.stringify([...kept.values()])).not.toContain(deviceToken);
    expect(kept.get("d")?.tokens).toEqual([
      { role: "operator", scopes: read, hash: expect.stringMatching(/^[0-9a-f]{64}$/), createdAtMs: 1_000 },
    ]);
  });

  test("that is issued anew ends the one before, not the connections", async () => {
    const { registry, kept, ended } = setup();
    await registry.pairSilently(request());
    const first = await registry.issue("d", "operator");
    const second = await registry.issue("d", "operator");
    const record = kept.get("d");
    expect(checkDeviceToken(record, "operator", first.deviceToken).verdict).toBe("unknown");
    expect(checkDeviceToken(record, "operator", second.deviceToken).verdict).toBe("valid");
    expect(ended).toEqual([]);
  });

  test("that is rotated may lose scopes, never gain any, and ends the connections of its role only", async () => {
    const { registry, kept, ended } = setup();
    await registry.pairSilently(request({ scopes: write }));
    await registry.pairSilently(request({ role: "node", scopes: [] }));
    const old = await registry.issue("d", "operator");

    const rotated = await registry.rotate("d", "operator", read);

    expect(ended).toEqual([["d", "device token revoked", "operator"]]);
    expect(rotated).toEqual({ token: expect.any(String), scopes: read, rotatedAtMs: 1_000 });
    expect(checkDeviceToken(kept.get("d"), "operator", old.deviceToken).verdict).toBe("unknown");
    expect(checkDeviceToken(kept.get("d"), "operator", rotated.token)).toMatchObject({ verdict: "valid", entry: { scopes: read } });
    await expect(registry.rotate("d", "operator", write)).rejects.toMatchObject({ code: "device-scopes" });
    expect((await registry.issue("d", "operator")) && kept.get("d")?.tokens.find((t) => t.role === "operator")?.scopes).toEqual(read);
  });

  test("that is revoked opens nothing and ends the connections; a second time it stays revoked since then", async () => {
    const { registry, kept, time, ended } = setup();
    await registry.pairSilently(request());
    const { deviceToken } = await registry.issue("d", "operator");
    expect(await registry.revoke("d", "operator")).toEqual({ revokedAtMs: 1_000 });
    expect(ended).toEqual([["d", "device token revoked", "operator"]]);
    expect(checkDeviceToken(kept.get("d"), "operator", deviceToken).verdict).toBe("revoked");
    time.now = 5_000;
    expect(await registry.revoke("d", "operator")).toEqual({ revokedAtMs: 1_000 });
  });

  test.each(["issue", "rotate", "revoke"] as const)("of a role that nobody approved cannot be had: %s", async (act) => {
    const { registry } = setup();
    await registry.pairSilently(request());
    await expect(registry[act]("d", "node")).rejects.toMatchObject({ code: "unknown-device-role" });
    await expect(registry[act]("nobody", "operator")).rejects.toMatchObject({ code: "unknown-device", message: "unknown deviceId" });
  });
});

describe("a removed device", () => {
  test("is forgotten, with its connections and whatever it waits for", async () => {
    const { registry, kept, events, ended } = setup();
    await registry.pairSilently(request());
    registry.pending.ask(waiting({ scopes: write }));
    await registry.remove("d");
    expect(ended).toEqual([["d", "device removed"]]);
    expect(kept.size).toBe(0);
    expect(events.at(-1)).toEqual(["device.pair.resolved", expect.objectContaining({ decision: "rejected" })]);
    await expect(registry.remove("d")).rejects.toMatchObject({ code: "unknown-device" });
  });

  test("is not brought back by a change that was under way", async () => {
    const { registry, kept, time } = setup();
    await registry.pairSilently(request());
    time.now += 120_000;
    const removed = registry.remove("d");
    registry.seen("d");
    const renamed = registry.rename("d", "again").catch(({ code }) => code);
    await removed;
    expect(await renamed).toBe("unknown-device");
    expect(kept.size).toBe(0);
  });
});

test("that a device is here is noted at most once a minute", async () => {
  const { registry, kept, time } = setup();
  await registry.pairSilently(request());
  const seenAt = async (now: number) => {
    time.now = now;
    registry.seen("d");
    await registry.rename("d", "x"); // in turn behind it
    return kept.get("d")?.lastSeenAtMs;
  };
  expect(await seenAt(60_999)).toBe(1_000);
  expect(await seenAt(61_000)).toBe(61_000);
});

describe("a record does not cover", () => {
  const record = { roles: ["operator"], scopes: write, platform: "Linux " } as DeviceRecord;
  test.each<[string, DeviceRecord, Partial<PairingRequest>]>([
    ["role-upgrade", record, { role: "node", scopes: [] }],
    ["scope-upgrade", record, { scopes: ["operator.admin"] }],
    ["metadata-upgrade", record, { platform: "windows" }],
    ["metadata-upgrade", record, { deviceFamily: "phone" }],
  ])("%s", (reason, of, change) => expect(upgradeReason(of, request(change))).toBe(reason));

  test("nothing when all is as it was, and admin covers every scope", () => {
    expect(upgradeReason(record, request({ scopes: read, platform: "LINUX" }))).toBeUndefined();
    expect(
      upgradeReason({ ...record, scopes: ["operator.admin"] }, request({ scopes: ["operator.pairing", "operator.read"] })),
    ).toBeUndefined();
  });
});

test("a change that another writer has overtaken is made again on what is there: a revoked token does not come back", async () => {
  const { registry, kept, versions, time } = setup();
  await registry.pairSilently(request());
  await registry.issue("d", "operator");
  time.now += 120_000;

  // It has read the record by then, and writes after the other one.
  const noted = registry.rename("d", "Phone");
  for (let n = 0; n < 50; n++) await null;
  const record = kept.get("d") as DeviceRecord;
  kept.set("d", { ...record, tokens: record.tokens.map((token) => ({ ...token, revokedAtMs: 5 })) });
  versions.set("d", 1_000);
  await noted;

  expect(kept.get("d")).toMatchObject({ label: "Phone", tokens: [{ revokedAtMs: 5 }] });
});
