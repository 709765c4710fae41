import { storeContract } from "svc/sdk/testing";
import { describe } from "vitest";
import { tempStore } from "./testing/temp-store.ts";

describe("the embedded store", () => {
  storeContract(async () => {
    let cleanup: () => Promise<void> = async () => undefined;
    const temp = tempStore((fn) => {
      cleanup = fn;
    });
    // At this time no row is old enough to be dropped.
    const { service, leases } = await temp.open({ clock: { now: () => 0, monotonic: () => performance.now() } });
    return { store: service, leases, dispose: () => cleanup() };
  });
});
