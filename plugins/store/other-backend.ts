import { createError, isSvcError, type Lease, type PluginContext, type Store, type StoreBackend } from "svc/sdk";
import { storeErrors } from "./errors.ts";

/**
 * Registers the services of a store outside the process in place of the embedded one: whoever asks for `store@2` finds one provider, whatever `store.backend` is.
 * Without that store there is nothing worth serving, so the start ends.
 */
export function useBackend(ctx: PluginContext): void {
  const backend = find(ctx);
  ctx.registerService("store@2", withErrors(backend.store));
  ctx.registerService("leases@1", { acquire: mapped(async (...args) => toLease(await backend.leases.acquire(...args))) });
  ctx.contribute("kv", "store", withMappedErrors(backend.rows));
}

function find(ctx: PluginContext): StoreBackend {
  const name = ctx.snapshot().store.backend;
  try {
    return ctx.service("store-backend@1");
  } catch (error) {
    const missing = storeErrors.storeBackendMissing({ backend: name, plugin: `store-${name}` }, { cause: error });
    ctx.service("gateway@1").refuseStart(missing);
    throw missing;
  }
}

/** The store with the errors of this plugin's table: a code stands in one table only, so a backend rejects with codes and fields. */
function withErrors(store: Store): Store {
  const { sessions, deliveries } = store;
  return {
    ...store,
    commit: mapped((...args) => store.commit(...args)),
    sessions: { ...withMappedErrors(sessions), version: sessions.version },
    messages: withMappedErrors(store.messages),
    transcripts: withMappedErrors(store.transcripts),
    runs: withMappedErrors(store.runs),
    idempotency: withMappedErrors(store.idempotency),
    systemEvents: withMappedErrors(store.systemEvents),
    deliveries: { ...withMappedErrors(deliveries), crashed: deliveries.crashed, gate: deliveries.gate },
    kv: withMappedErrors(store.kv),
  };
}

function withMappedErrors<Part extends object>(part: Part): Part {
  const mappedEntries = Object.entries(part).map(([name, value]: [string, unknown]) => {
    return [name, typeof value === "function" ? mapped(value as (...args: unknown[]) => Promise<unknown>) : value];
  });
  return Object.fromEntries(mappedEntries) as Part;
}

function mapped<Args extends unknown[], Result>(fn: (...args: Args) => Promise<Result>): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await fn(...args);
    } catch (error) {
      throw toError(error);
    }
  };
}

/** An error of the table for what a backend rejects with; anything else stays as it is, an aborted wait among it. */
function toError(error: unknown): unknown {
  if (!(error instanceof Error) || isSvcError(error)) return error;
  const { code, fields, retryAfterMs } = error as { code?: unknown; fields?: Record<string, unknown>; retryAfterMs?: number };
  if (typeof code !== "string" || fields === undefined) return error;
  try {
    return createError(storeErrors, code, fields, { cause: error.cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  } catch {
    return error;
  }
}

/** A lease whose loss has an error of the table as its reason. */
function toLease({ name, token, lost, release }: Lease): Lease {
  const controller = new AbortController();
  const forward = () => controller.abort(toError(lost.reason));
  if (lost.aborted) forward();
  else lost.addEventListener("abort", forward, { once: true });
  return { name, token, lost: controller.signal, release: mapped(release) };
}
