import type { Disposable } from "./common.ts";
import type { Schema } from "./schema.ts";

/** Short form used by authors; on the wire `operator.<scope>`. */
export type Scope = "read" | "write" | "approvals" | "pairing" | "admin";
/** A scope as it stands on the wire. */
export type OperatorScope = `operator.${Scope}`;

/** A connected protocol client, as plugins see it. */
export interface ClientInfo {
  readonly connId: string;
  readonly clientId: string;
  readonly mode: string;
  readonly role: "operator" | "node";
  readonly scopes: readonly OperatorScope[];
  readonly caps: readonly string[];
  readonly remote: string;
  /** On the gateway's own machine, and through no proxy. */
  readonly directLoopback?: true;
  /** Identity of the caller, when a plugin identified it. */
  readonly identity?: string;
  readonly deviceId?: string;
  readonly instanceId?: string;
}

/** One running request. */
export interface RpcCall {
  readonly client: ClientInfo;
  /** Aborts when the socket goes away; work that was accepted ignores it. */
  readonly signal: AbortSignal;
  /** W3C trace context that came with the request, if it is well-formed; to be passed on to other services. */
  readonly traceparent?: string;
  /** First `res` of a two-phase method; the returned value of the handler becomes the second one. */
  accept(payload: unknown): void;
  /** Lets this connection receive events emitted with `topic`; ends with the socket. */
  subscribe(topic: string): Disposable;
  unsubscribe(topic: string): void;
}

/** A method of the control protocol that a plugin answers. */
export interface RpcMethod<Params = unknown, Result = unknown> {
  method: string;
  scope: Scope;
  params: Schema<Params>;
  /** Scope needed for particular params, when it is more than `scope`. */
  scopeFor?(params: Params): Scope;
  /** Left out of `features.methods`. */
  hidden?: boolean;
  handler(params: Params, call: RpcCall): Result | Promise<Result>;
}

/** Receivers of an event. */
export interface EmitOptions {
  /** Scope a receiver needs; default for a plugin's own events: `write`. An event of the protocol needs what its row says, and this too. */
  scope?: Scope;
  /** Only connections subscribed to this topic. */
  topic?: string;
  /** Further filter per receiver. */
  only?(client: ClientInfo): boolean;
  /** May be skipped for a receiver whose buffer is full; defaults to the event table. */
  droppable?: boolean;
  /** Joins events of one key that wait for the same receiver, at most one per 50 ms. */
  merge?: { key: string; join(earlier: unknown, later: unknown): unknown };
}
