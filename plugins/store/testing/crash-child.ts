import { writeSync } from "node:fs";
import type { StoreOp } from "svc/sdk";
import { type OpenStoreOptions, openStore } from "../open-store.ts";
import { accept, append, claim, finish, firstOwner, run } from "./temp-store.ts";

/** Opens the store and commits for ever from several callers; prints the id of each resolved commit, until something kills the process. */
export async function commitForEver(options: Pick<OpenStoreOptions, "path" | "failpoint">): Promise<void> {
  const nothing = () => undefined;
  const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  const store = await openStore({ ...options, logger, clock: { now: () => Date.now(), monotonic: () => performance.now() } });
  const caller = async (name: number) => {
    for (let n = 0; ; n += 1) {
      const id = `${name}-${n}`;
      const whole = store.commit([append(id), { op: "run.put", run: run(id) }, { op: "kv.put", scope: "crash", key: id, value: n }]);
      const refused = store.commit([append(`refused-${id}`), { op: "session.patch", key: "nobody", patch: {} }]);
      await whole;
      writeSync(1, `${id}\n`);
      await refused.catch(nothing);
    }
  };
  await Promise.all([1, 2, 3, 4].map(caller));
}

/** Takes deliveries on for ever and carries each to its end; prints `<uid> <what>` after each resolved commit, until something kills the process. */
export async function deliverForEver(options: Pick<OpenStoreOptions, "path" | "failpoint">): Promise<void> {
  const nothing = () => undefined;
  const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  const store = await openStore({ ...options, logger, clock: { now: () => Date.now(), monotonic: () => performance.now() } });
  const caller = async (name: number) => {
    for (let n = 0; ; n += 1) {
      const uid = `${name}-${n}`;
      const ways: Array<[string, StoreOp]> = [
        ["accepted", accept(uid, { lane: `lane ${name}`, idemScope: "crash", idemKey: uid, fingerprint: "f" }, Date.now())],
        ["claimed", claim(uid)],
        ["stepped", { op: "delivery.step", uid, leaseBoot: "b1", attempt: 1, step: "run", value: { n }, at: 2_500 }],
        ["requeued", { op: "delivery.requeue", uid, from: ["running"], owner: firstOwner, at: 2_600 }],
        ["claimed again", claim(uid)],
        ["ended", finish(uid, n % 3 === 0 ? "failed" : "done", { at: Date.now(), owner: { leaseBoot: "b1", attempt: 2 } })],
      ];
      for (const [what, op] of ways) {
        await store.commit([op]);
        writeSync(1, `${uid} ${what}\n`);
      }
    }
  };
  await Promise.all([1, 2, 3, 4].map(caller));
}
