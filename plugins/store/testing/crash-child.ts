import { writeSync } from "node:fs";
import { type OpenStoreOptions, openStore } from "../open-store.ts";
import { append, run } from "./temp-store.ts";

/** Opens the store and commits for ever from several callers; prints the id of each resolved commit, until something kills the process. */
export async function commitForEver(options: Pick<OpenStoreOptions, "path" | "failpoint">): Promise<void> {
  const nothing = () => undefined;
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
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
