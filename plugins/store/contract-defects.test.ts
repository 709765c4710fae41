import type { Store, StoreOp } from "svc/sdk";
import { runCases, storeCases } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { tempStore } from "./testing/temp-store.ts";

type Commit = Store["commit"];

/** A store with one defect. */
interface Defect {
  name: string;
  /** Case of the suite that finds it. */
  found: string;
  plant(store: Store): Commit | Pick<Store, "messages">;
}

/** Drops conditions of operations before they reach the store. */
const without =
  (...conditions: string[]) =>
  (store: Store): Commit =>
  (ops, options) =>
    store.commit(
      ops.map((op) => Object.fromEntries(Object.entries(op).filter(([name]) => !conditions.includes(name))) as StoreOp),
      options,
    );

const table = "each operation on a delivery, in each state, has the result of the model";

const pages = "a page of messages ends at its bytes, and only an empty one is the last";

const defects: Defect[] = [
  {
    name: "a failed delivery may be claimed",
    found: table,
    plant: (store) => async (ops, options) => {
      const claims = ops.flatMap((op) => (op.op === "delivery.claim" ? [op] : []));
      const revived = claims.map(({ uid, at }): StoreOp => ({ op: "delivery.requeue", uid, from: ["failed"], at }));
      await store.commit(revived).catch(() => undefined);
      return store.commit(ops, options);
    },
  },
  {
    name: "any boot records a step",
    found: table,
    plant: (store) => async (ops, options) => {
      const owned = ops.map(async (op) => {
        if (op.op !== "delivery.step") return op;
        const { leaseBoot = op.leaseBoot, attempt = op.attempt } = (await store.deliveries.get(op.uid)) ?? {};
        return { ...op, leaseBoot, attempt };
      });
      return store.commit(await Promise.all(owned), options);
    },
  },
  {
    name: "an end names its owner in vain",
    found: "a claim that was taken over cannot be written to by its first owner",
    plant: (store) => async (ops, options) => {
      const owned = ops.map(async (op) => {
        if ((op.op !== "delivery.finish" && op.op !== "delivery.requeue") || !op.owner) return op;
        const { owner: _, ...rest } = op;
        const { leaseBoot, attempt = 0 } = (await store.deliveries.get(op.uid)) ?? {};
        return leaseBoot === undefined ? rest : { ...rest, owner: { leaseBoot, attempt } };
      });
      return store.commit(await Promise.all(owned), options);
    },
  },
  {
    name: "an end need not name its owner",
    found: table,
    plant: (store) => async (ops, options) => {
      const owned = ops.map(async (op) => {
        if ((op.op !== "delivery.finish" && op.op !== "delivery.requeue") || op.owner) return op;
        const { leaseBoot, attempt = 0 } = (await store.deliveries.get(op.uid)) ?? {};
        return leaseBoot === undefined ? op : { ...op, owner: { leaseBoot, attempt } };
      });
      return store.commit(await Promise.all(owned), options);
    },
  },
  { name: "a value is overwritten blindly", found: "a value is written only over the version that was read", plant: without("ifVersion") },
  { name: "the second first writer wins", found: "of two first writers of a value one is refused", plant: without("ifAbsent") },
  { name: "a run is ended by anybody", found: "a run is ended by its owner only", plant: without("ifOwner") },
  { name: "a label is given twice", found: "of two sessions that take one label at once one is refused", plant: without("uniqueLabel") },
  { name: "events are read twice", found: "events that one prompt has taken are not taken by another", plant: without("all") },
  {
    name: "a session is deleted with the events that wait for it",
    found: "a session for which an event came meanwhile is not deleted as unused",
    plant: without("ifNoEvents"),
  },
  {
    name: "a page has no bound of bytes",
    found: pages,
    plant: ({ messages }) => ({
      messages: { ...messages, page: (id, options) => messages.page(id, { ...options, maxBytes: Number.POSITIVE_INFINITY }) },
    }),
  },
  {
    name: "a scan ends without a record that is larger than its bytes",
    found: pages,
    plant: ({ messages }) => ({
      messages: {
        ...messages,
        async scan(id, after, limit, { maxBytes = Number.POSITIVE_INFINITY } = {}) {
          const rows = await messages.scan(id, after, limit, { maxBytes });
          return Buffer.byteLength(JSON.stringify(rows)) > maxBytes ? [] : rows;
        },
      },
    }),
  },
  {
    name: "fences are not looked at",
    found: "a commit with the fence of a lost lease stores nothing",
    plant: (store) => (ops) => store.commit(ops),
  },
];

test.each(defects)("the suite finds a store in which $name", async ({ found, plant }) => {
  const results = await runCases(
    storeCases(async () => {
      let cleanup: () => Promise<void> = async () => undefined;
      const temp = tempStore((fn) => {
        cleanup = fn;
      });
      const { service, leases } = await temp.open({ clock: { now: () => 0, monotonic: () => performance.now() } });
      const planted = plant(service);
      return {
        store: { ...service, ...(typeof planted === "function" ? { commit: planted } : planted) },
        leases,
        dispose: () => cleanup(),
      };
    }).filter(({ name }) => name === found),
  );

  expect(results).toEqual([{ name: found, failure: expect.any(String) }]);
});
