import { commonErrors } from "../../../sdk/errors.ts";
import type { SyncStore } from "../../../sdk/types/store.ts";
import type { DeviceRecord } from "./record.ts";

/** One page of the store; so many devices may be paired at a time. */
export const MAX_PAIRED = 1_000;
const SCOPE = "gateway/devices";

/** Storage of paired devices. Reads are synchronous; writes resolve once durable. */
export interface DeviceRows {
  get(deviceId: string): DeviceRecord | undefined;
  /** All, ordered by id. */
  list(): DeviceRecord[];
  put(record: DeviceRecord): Promise<void>;
  remove(deviceId: string): Promise<void>;
}

/**
 * Devices as rows of the state database; the store is asked for at each call, because it may come and go.
 * @throws {SvcError} each call: `service-unavailable` while there is no store
 */
export function createDeviceRows(present: () => SyncStore | undefined): DeviceRows {
  const store = () => {
    const found = present();
    if (!found) throw commonErrors.serviceUnavailable({ service: "store@1" });
    return found;
  };
  return {
    get: (deviceId) => store().kv.get(SCOPE, deviceId) as DeviceRecord | undefined,
    list: () =>
      store()
        .kv.list(SCOPE, "")
        .map(({ value }) => value as DeviceRecord),
    async put(record) {
      await store().commit([{ op: "kv.put", scope: SCOPE, key: record.deviceId, value: record }]);
    },
    async remove(deviceId) {
      await store().commit([{ op: "kv.delete", scope: SCOPE, key: deviceId }]);
    },
  };
}
