import type { Store } from "svc/sdk";
import type { DeviceRecord } from "./record.ts";

/** One page of the store; so many devices may be paired at a time. */
export const MAX_PAIRED = 1_000;
const SCOPE = "gateway/devices";

/** A record as it was read; its version is the condition of the next write. */
export interface StoredDevice {
  record: DeviceRecord;
  version: number;
}

/** Storage of paired devices. Writes resolve once durable. */
export interface DeviceRows {
  read(deviceId: string): Promise<StoredDevice | undefined>;
  /** All, ordered by id. */
  list(): Promise<DeviceRecord[]>;
  /**
   * Resolves once durable. @param version of the record that was read; undefined when there was none
   * @throws {SvcError} `kv-changed`, `exists` when another one has written meanwhile: a revoked token must not come back with an older copy
   */
  put(record: DeviceRecord, version: number | undefined): Promise<void>;
  /** @throws {SvcError} `kv-changed` */
  remove(deviceId: string, version: number): Promise<void>;
}

/**
 * Devices as rows of the state database.
 * @param store asked for at each call, because it may come and go; each call throws `service-unavailable` while there is none
 */
export function createDeviceRows(store: () => Pick<Store, "kv" | "commit">): DeviceRows {
  return {
    async read(deviceId) {
      const found = await store().kv.read(SCOPE, deviceId);
      return found && { record: found.value as DeviceRecord, version: found.version };
    },
    async list() {
      return (await store().kv.list(SCOPE, "")).map(({ value }) => value as DeviceRecord);
    },
    async put(record, version) {
      const condition = version === undefined ? { ifAbsent: true } : { ifVersion: version };
      await store().commit([{ op: "kv.put", scope: SCOPE, key: record.deviceId, value: record, ...condition }]);
    },
    async remove(deviceId, version) {
      await store().commit([{ op: "kv.delete", scope: SCOPE, key: deviceId, ifVersion: version }]);
    },
  };
}
