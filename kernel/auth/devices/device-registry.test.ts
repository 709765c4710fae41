import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import { createDeviceBook } from "./device-registry.ts";
import { type DeviceWish, upgradeReason } from "./pairing-request.ts";
import type { DeviceRecord, PendingDevice } from "./record.ts";
import { type DeviceRows, MAX_PAIRED } from "./rows.ts";
import { judgeDeviceToken } from "./tokens.ts";

const read: OperatorScope[] = ["operator.read"];
const write: OperatorScope[] = ["operator.read", "operator.write"];

const turn = () => new Promise((resolve) => setImmediate(resolve));

function setup(change: Partial<DeviceRows> = {}) {
  const kept = new Map<string, DeviceRecord>();
  const rows: DeviceRows = {
    get: (id) => kept.get(id),
    list: () => [...kept.values()],
    async put(record) {
      await turn(); // a commit takes its time
      kept.set(record.deviceId, structuredClone(record));
    },
    async remove(id) {
      await turn();
      kept.delete(id);
    },
    ...change,
  };
  const time = { now: 1_000 };
  const events: Array<[string, object]> = [];
  let ids = 0;
  const nothing = () => undefined;
  const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  const book = createDeviceBook({
    ...{ rows, logger, now: () => time.now, monotonic: () => time.now, randomId: () => `r${++ids}` },
    emit: (event, payload) => events.push([event, payload]),
  });
  return { book, kept, time, events, rows };
}

const wish = (change: Partial<DeviceWish> = {}): DeviceWish => ({
  ...{ deviceId: "d", publicKey: "k", platform: "linux", clientId: "cli", clientMode: "cli", role: "operator", scopes: read },
  ...change,
});
const waiting = (change: Partial<DeviceWish> = {}): Omit<PendingDevice, "requestId"> => {
  const { role, ...rest } = wish(change);
  return { ...rest, role, roles: [role], silent: false, isRepair: false, ts: 1, remoteIp: "203.0.113.9" };
};

describe("an approval", () => {
  test("pairs the device with what it asked for, and says so", async () => {
    const { book, kept, events } = setup();
    const { requestId } = book.pending.ask(waiting({ displayName: "Phone" }));

    await book.approve(requestId);

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
    await expect(book.approve(requestId)).rejects.toMatchObject({ code: "unknown-request" });
  });

  test("that cannot be written leaves the request waiting", async () => {
    const { book, events } = setup({ put: () => Promise.reject(new Error("disk full")) });
    const { requestId } = book.pending.ask(waiting());
    await expect(book.approve(requestId)).rejects.toThrow("disk full");
    expect(book.pending.list()).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  test("of a paired device adds to what it had, its token's scopes included, and keeps its label and the rights of other roles", async () => {
    const { book, kept, time } = setup();
    await book.pairSilently(wish());
    const { deviceToken } = await book.issue("d", "operator");
    await book.rename("d", "Kitchen");
    time.now = 2_000;
    await book.approve(book.pending.ask(waiting({ scopes: write })).requestId);
    await book.approve(book.pending.ask(waiting({ role: "node", scopes: [] })).requestId);

    const record = kept.get("d") as DeviceRecord;
    expect(record).toMatchObject({ label: "Kitchen", roles: ["operator", "node"], scopes: write, createdAtMs: 1_000, approvedAtMs: 2_000 });
    expect(judgeDeviceToken(record, "operator", deviceToken)).toMatchObject({ verdict: "valid", entry: { scopes: write } });
    expect(judgeDeviceToken(record, "node", deviceToken)).toEqual({ verdict: "unknown" });
  });

  test("of one device more than 1,000 is refused", async () => {
    const { book, kept } = setup();
    for (let i = 0; i < MAX_PAIRED - 1; i++) kept.set(`old${i}`, {} as DeviceRecord);
    await book.pairSilently(wish({ deviceId: "last" }));
    await expect(book.pairSilently(wish())).rejects.toMatchObject({ code: "device-limit", details: { code: "DEVICE_LIMIT" } });
    await book.pairSilently(wish({ deviceId: "last", scopes: write }));
  });
});

test("a rejection says so and pairs nobody", () => {
  const { book, kept, events } = setup();
  const { requestId } = book.pending.ask(waiting());
  book.reject(requestId);
  expect(events.at(-1)).toEqual(["device.pair.resolved", { requestId, deviceId: "d", decision: "rejected", ts: 1_000 }]);
  expect(kept.size).toBe(0);
});

describe("a token", () => {
  test("is 32 random bytes of which only the digest is kept", async () => {
    const { book, kept } = setup();
    await book.pairSilently(wish());
    const { deviceToken, issuedAtMs } = await book.issue("d", "operator");
    expect(Buffer.from(deviceToken, "base64url")).toHaveLength(32);
    expect(issuedAtMs).toBe(1_000);
    expect(JSON.stringify([...kept.values()])).not.toContain(deviceToken);
    expect(kept.get("d")?.tokens).toEqual([
      { role: "operator", scopes: read, hash: expect.stringMatching(/^[0-9a-f]{64}$/), createdAtMs: 1_000 },
    ]);
  });

  test("that is issued anew ends the one before, not the connections", async () => {
    const { book, kept } = setup();
    await book.pairSilently(wish());
    const first = await book.issue("d", "operator");
    const standing = book.standing("d", "operator");
    const second = await book.issue("d", "operator");
    const record = kept.get("d");
    expect(judgeDeviceToken(record, "operator", first.deviceToken).verdict).toBe("unknown");
    expect(judgeDeviceToken(record, "operator", second.deviceToken).verdict).toBe("valid");
    await turn();
    expect(standing.aborted).toBe(false);
  });

  test("that is rotated may lose scopes, never gain any, and ends the connections of its role only", async () => {
    const { book, kept } = setup();
    await book.pairSilently(wish({ scopes: write }));
    await book.pairSilently(wish({ role: "node", scopes: [] }));
    const old = await book.issue("d", "operator");
    const [operator, node] = [book.standing("d", "operator"), book.standing("d", "node")];
    const ended = once(operator, "abort");

    const rotated = await book.rotate("d", "operator", read);

    await ended;
    expect(operator.reason).toMatchObject({ fields: { reason: "device token revoked" } });
    expect(node.aborted).toBe(false);
    expect(rotated).toEqual({ token: expect.any(String), scopes: read, rotatedAtMs: 1_000 });
    expect(judgeDeviceToken(kept.get("d"), "operator", old.deviceToken).verdict).toBe("unknown");
    expect(judgeDeviceToken(kept.get("d"), "operator", rotated.token)).toMatchObject({ verdict: "valid", entry: { scopes: read } });
    await expect(book.rotate("d", "operator", write)).rejects.toMatchObject({ code: "device-scopes" });
    expect((await book.issue("d", "operator")) && kept.get("d")?.tokens.find((t) => t.role === "operator")?.scopes).toEqual(read);
  });

  test("that is revoked opens nothing and ends the connections; a second time it stays revoked since then", async () => {
    const { book, kept, time } = setup();
    await book.pairSilently(wish());
    const { deviceToken } = await book.issue("d", "operator");
    const ended = once(book.standing("d", "operator"), "abort");
    expect(await book.revoke("d", "operator")).toEqual({ revokedAtMs: 1_000 });
    await ended;
    expect(judgeDeviceToken(kept.get("d"), "operator", deviceToken).verdict).toBe("revoked");
    time.now = 5_000;
    expect(await book.revoke("d", "operator")).toEqual({ revokedAtMs: 1_000 });
    expect(book.standing("d", "operator").aborted).toBe(false);
  });

  test.each(["issue", "rotate", "revoke"] as const)("of a role that nobody approved cannot be had: %s", async (act) => {
    const { book } = setup();
    await book.pairSilently(wish());
    await expect(book[act]("d", "node")).rejects.toMatchObject({ code: "unknown-device-role" });
    await expect(book[act]("nobody", "operator")).rejects.toMatchObject({ code: "unknown-device", message: "unknown deviceId" });
  });
});

describe("a removed device", () => {
  test("is forgotten, with its connections and whatever it waits for", async () => {
    const { book, kept, events } = setup();
    await book.pairSilently(wish());
    const standing = book.standing("d", "operator");
    const ended = once(standing, "abort");
    book.pending.ask(waiting({ scopes: write }));
    await book.remove("d");
    await ended;
    expect(standing.reason).toMatchObject({ fields: { reason: "device removed" } });
    expect(kept.size).toBe(0);
    expect(events.at(-1)).toEqual(["device.pair.resolved", expect.objectContaining({ decision: "rejected" })]);
    await expect(book.remove("d")).rejects.toMatchObject({ code: "unknown-device" });
  });

  test("is not brought back by a change that was under way", async () => {
    const { book, kept, time } = setup();
    await book.pairSilently(wish());
    time.now += 120_000;
    const removed = book.remove("d");
    book.seen("d");
    const renamed = book.rename("d", "again").catch(({ code }) => code);
    await removed;
    expect(await renamed).toBe("unknown-device");
    expect(kept.size).toBe(0);
  });
});

test("that a device is here is noted at most once a minute", async () => {
  const { book, kept, time } = setup();
  await book.pairSilently(wish());
  const seenAt = async (now: number) => {
    time.now = now;
    book.seen("d");
    await book.rename("d", "x"); // in turn behind it
    return kept.get("d")?.lastSeenAtMs;
  };
  expect(await seenAt(60_999)).toBe(1_000);
  expect(await seenAt(61_000)).toBe(61_000);
});

describe("a record does not cover", () => {
  const record = { roles: ["operator"], scopes: write, platform: "Linux " } as DeviceRecord;
  test.each<[string, DeviceRecord | undefined, Partial<DeviceWish>]>([
    ["not-paired", undefined, {}],
    ["role-upgrade", record, { role: "node", scopes: [] }],
    ["scope-upgrade", record, { scopes: ["operator.admin"] }],
    ["metadata-upgrade", record, { platform: "windows" }],
    ["metadata-upgrade", record, { deviceFamily: "phone" }],
  ])("%s", (reason, of, change) => expect(upgradeReason(of, wish(change))).toBe(reason));

  test("nothing when all is as it was, and admin covers every scope", () => {
    expect(upgradeReason(record, wish({ scopes: read, platform: "LINUX" }))).toBeUndefined();
    expect(
      upgradeReason({ ...record, scopes: ["operator.admin"] }, wish({ scopes: ["operator.pairing", "operator.read"] })),
    ).toBeUndefined();
  });
});
