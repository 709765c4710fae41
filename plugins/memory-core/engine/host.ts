import type { EmbeddingFault } from "svc/sdk";
import type { HostAnswer, HostCall, HostMethod, HostMethods, WorkerFault } from "../worker-protocol.ts";
import { IndexFault } from "./fault.ts";

/** The main thread, as the index sees it: plugins, vendors and the store live there. */
export interface Host {
  /** @throws {EmbedFault} what an adapter says, `timeout` after the limit; the signal's reason after an abort */
  call<M extends HostMethod>(
    method: M,
    params: HostMethods[M]["params"],
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<HostMethods[M]["reply"]>;
}

export interface HostCalls extends Host {
  /** Takes an answer; those to calls that were given up are dropped. */
  answered(answer: HostAnswer): void;
}

/** An `EmbeddingError` that has crossed the thread border. */
export class EmbedFault extends Error {
  readonly fault: EmbeddingFault;
  readonly retryAfterMs: number | undefined;

  constructor(fault: EmbeddingFault, message: string, retryAfterMs?: number) {
    super(message);
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An index that nobody helps: it searches words. */
export const noHost: Host = {
  call: () => Promise.reject(new EmbedFault("no-credentials", "there is no embedding provider")),
};

interface Entry {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Calls under way at a time. The main thread serves twice as many: one that was given up may take a while to end there. */
const MAX_UNDER_WAY = 128;

/** @param post hands a call over to the main thread; `moved`: memory that goes over instead of being copied */
export function createHostCalls(post: (call: HostCall, moved?: ArrayBuffer[]) => void): HostCalls {
  const open = new Map<number, Entry>();
  /** Calls that wait for their turn, within their own time: no more than searches and syncs may. */
  const waiting = new Map<number, () => void>();
  let next = 1;
  const sendNext = () => {
    for (const [call, send] of waiting) {
      if (open.size >= MAX_UNDER_WAY) return;
      waiting.delete(call);
      send();
    }
  };
  return {
    call(method, params, { timeoutMs, signal }) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const call = next++;
      return new Promise((resolve, reject) => {
        const giveUp = (error: unknown) => {
          if (open.has(call)) post({ call, abandoned: true });
          entry.reject(error);
        };
        const timer = setTimeout(() => giveUp(new EmbedFault("timeout", `${method}: no answer within ${timeoutMs} ms`)), timeoutMs);
        const onAbort = () => giveUp(signal?.reason);
        const end = () => {
          open.delete(call);
          waiting.delete(call);
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          sendNext();
        };
        const entry: Entry = {
          resolve(value) {
            end();
            resolve(value as HostMethods[typeof method]["reply"]);
          },
          reject(error) {
            end();
            reject(error);
          },
        };
        const send = () => {
          open.set(call, entry);
          post({ call, host: method, params }, memoryOf(params));
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        if (open.size < MAX_UNDER_WAY) send();
        else waiting.set(call, send);
      });
    },
    answered(answer) {
      const entry = open.get(answer.answer);
      if (!entry) return;
      if ("fault" in answer) entry.reject(toError(answer.fault));
      else entry.resolve(answer.value);
    },
  };
}

/** Texts of a job are packed for this one call; everything else may be somebody's own. */
function memoryOf(params: HostMethods[HostMethod]["params"]): ArrayBuffer[] {
  return "texts" in params && "bytes" in params.texts ? [params.texts.bytes.buffer] : [];
}

function toError({ code, fields, spec }: WorkerFault): Error {
  if (code !== "embedding") return new IndexFault(code, fields, { spec });
  const retryAfterMs = typeof fields.retryAfterMs === "number" ? fields.retryAfterMs : undefined;
  return new EmbedFault(fields.fault as EmbeddingFault, String(fields.message), retryAfterMs);
}
