import { setPriority } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { collectGarbage } from "./engine/collect-garbage.ts";
import { IndexEngine } from "./engine/engine.ts";
import { IndexFault, reasonOf } from "./engine/fault.ts";
import { createHostCalls } from "./engine/host.ts";
import type { IndexThreadData } from "./index-worker-host.ts";
import { createActivity } from "./thread-activity.ts";
import type { HostAnswer, IndexMethods, WorkerFault, WorkerMessage, WorkerNews, WorkerRequest } from "./worker-protocol.ts";

/** Several heartbeats for each look of the main thread. */
const BEAT_MS = 250;
/** Where all cores are busy, callers of the gateway are answered before an index goes on. */
const NICENESS = 5;
/** A sync that took this long has left much behind. */
const LONG_SYNC_MS = 1_000;
// Elsewhere the priority is that of the whole process; on Linux each thread has its own.
if (process.platform === "linux") setPriority(NICENESS);
const port = parentPort;
const { settings, activity: memory, quarantined, hold } = workerData as IndexThreadData;
const held = new Int32Array(hold);
const post = (message: WorkerMessage, moved: ArrayBuffer[] = []) => port?.postMessage(message, moved);
const host = createHostCalls(post);
const activity = createActivity(memory);
const engine = new IndexEngine(settings, tell, {
  host,
  guard: { activity, quarantined },
  isHeld: () => Atomics.load(held, 0) === 1,
  released: collectGarbage,
});
activity.beat();
setInterval(activity.beat, BEAT_MS).unref();

port?.on("message", (request: WorkerRequest | HostAnswer) => {
  if ("answer" in request) return host.answered(request);
  answer(request).then(
    (reply) => {
      post({ id: request.id, reply });
      if (request.method === "close") port.close();
    },
    (error) => post({ id: request.id, fault: toFault(error) }),
  );
});

function tell(news: WorkerNews): void {
  post(news);
  if (news.news === "synced" && news.ms >= LONG_SYNC_MS) void wait(0, undefined, { ref: false }).then(collectGarbage);
}

async function answer({ id, method, params }: WorkerRequest): Promise<unknown> {
  switch (method) {
    case "search":
      return engine.search(params as IndexMethods["search"]["params"], (interim) => post({ id, interim }));
    case "get": {
      const { path, range } = params as IndexMethods["get"]["params"];
      return engine.get(path, range);
    }
    case "sync":
      return engine.sync(params as IndexMethods["sync"]["params"]);
    case "status":
      return engine.status((params as IndexMethods["status"]["params"]).files);
    case "reset":
      return engine.reset();
    case "watch":
      return engine.watch();
    case "provider":
      return engine.setProvider(params as IndexMethods["provider"]["params"]);
    case "sessionsGrown":
      return engine.sessionsGrown(params as IndexMethods["sessionsGrown"]["params"]);
    case "close":
      return engine.close();
  }
}

function toFault(error: unknown): WorkerFault {
  if (error instanceof IndexFault) {
    const { code, fields, spec } = error;
    return { code, fields: { path: settings.dbPath, ...fields }, ...(spec ? { spec, message: spec.message } : {}) };
  }
  return { code: "memory-index-failed", fields: { path: settings.dbPath, reason: reasonOf(error) } };
}
