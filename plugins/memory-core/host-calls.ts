import { commonErrors, SvcError } from "svc/sdk";
import { embeddingFaultOf } from "./providers/embedding-fault.ts";
import type { HostAnswer, HostCall, HostMethod, HostMethods, WorkerFault } from "./worker-protocol.ts";

/** Services of the main thread for the thread of an index. Each ends soon after its signal. */
export type HostHandlers = {
  [M in HostMethod]: (params: HostMethods[M]["params"], signal: AbortSignal) => Promise<HostMethods[M]["reply"]>;
};

export interface HostCallServer {
  receive(call: HostCall): void;
  /** The thread is gone: what it asked for is given up. */
  dispose(): void;
}

/** Calls of one thread under way at a time; a thread that asks for more is out of order. */
const MAX_CALLS = 256;

/** Their vectors are in few pieces of memory that hold nothing else; those of other calls may be somebody's own. */
const movedMethods: ReadonlySet<HostMethod> = new Set(["embed", "batchResults"]);

/**
 * Serves the calls of one thread. An answer to a call that was given up is never sent.
 * @param post `moved`: memory that goes over instead of being copied
 */
export function createHostCallServer(handlers: HostHandlers, post: (answer: HostAnswer, moved?: ArrayBuffer[]) => void): HostCallServer {
  const running = new Map<number, AbortController>();
  const answer = (value: HostAnswer, moved: ArrayBuffer[]) => {
    try {
      post(value, moved);
    } catch {
      // Memory that cannot be moved, such as that of a WebAssembly module, is copied.
      post(value);
    }
  };
  const run = async (call: number, method: HostMethod, params: HostMethods[HostMethod]["params"]) => {
    const stop = new AbortController();
    running.set(call, stop);
    try {
      const value = await handlers[method](params as never, stop.signal);
      if (!stop.signal.aborted) answer({ answer: call, value }, movedMethods.has(method) ? memoryOf(value) : []);
    } catch (error) {
      if (!stop.signal.aborted) post({ answer: call, fault: toFault(error) });
    } finally {
      running.delete(call);
    }
  };
  return {
    receive(message) {
      if ("abandoned" in message) {
        running.get(message.call)?.abort(new DOMException("the call was given up", "AbortError"));
        return;
      }
      if (running.size >= MAX_CALLS) post({ answer: message.call, fault: toFault(commonErrors.busy()) });
      else void run(message.call, message.host, message.params);
    },
    dispose() {
      for (const stop of running.values()) stop.abort(new DOMException("the index is gone", "AbortError"));
    },
  };
}

function memoryOf(results: HostMethods[HostMethod]["reply"]): ArrayBuffer[] {
  const vectors = (results as HostMethods["batchResults"]["reply"]).filter((one) => typeof one !== "string");
  return [...new Set(vectors.map(({ buffer }) => buffer as ArrayBuffer))];
}

function toFault(error: unknown): WorkerFault {
  const known = embeddingFaultOf(error);
  if (!known) return (error instanceof SvcError ? error : commonErrors.failed({ message: String(error) })).toPlain();
  return { code: "embedding", fields: { ...known } };
}
