import type { OpenedModel, OpenRequest, ProcessCall } from "./messages.ts";
import type { CallOptions, PendingCall, RuntimeProcess } from "./runtime-process.ts";

/** One model in the process, as its owner sees it. It is gone for good once `isUsable` is false. */
export interface ModelHandle {
  readonly isUsable: boolean;
  /** Loads it, unless it is loaded. @throws {ProcessFailure} */
  open(request: Omit<OpenRequest, "key">, options: CallOptions): Promise<OpenedModel>;
  call(make: (key: string) => ProcessCall, options: CallOptions): PendingCall;
  /** Unloads it; the last model ends the process. 5 s at most. */
  end(): Promise<void>;
}

/** The one process of all models: started for the first of them, ended with the last one. */
export interface ProcessOwner {
  model(): ModelHandle;
}

/** A model that still computes is let go when it is done. */
const UNLOAD_MS = 60_000;
const END_MS = 5_000;

/** @param start starts a process; called when a model is wanted and none runs */
export function createProcessOwner(start: () => RuntimeProcess): ProcessOwner {
  let current: { process: RuntimeProcess; models: number } | undefined;
  let keys = 0;

  const usable = (): { process: RuntimeProcess; models: number } => {
    if (!current?.process.isUsable) current = { process: start(), models: 0 };
    return current;
  };

  return {
    model() {
      const host = usable();
      host.models++;
      const key = String(keys++);
      let ended: Promise<void> | undefined;
      const end = async () => {
        if (--host.models === 0) return host.process.end();
        if (!host.process.isUsable) return;
        const { result } = host.process.call({ unload: key }, { what: "the unloading of a model", limitMs: UNLOAD_MS });
        let timer: NodeJS.Timeout | undefined;
        const patience = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, END_MS);
        });
        // A process that does not unload at all is killed, and with it the model.
        await Promise.race([result.catch(() => undefined), patience]);
        clearTimeout(timer);
      };
      return {
        get isUsable() {
          return ended === undefined && host.process.isUsable;
        },
        async open(request, options) {
          return (await host.process.call({ open: { ...request, key } }, options).result) as OpenedModel;
        },
        call: (make, options) => host.process.call(make(key), options),
        end: () => {
          ended ??= end();
          return ended;
        },
      };
    },
  };
}
