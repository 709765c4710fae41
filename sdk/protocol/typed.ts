import type { JsonObject } from "../types/common.ts";
import type { EventPayloadOf } from "./event-payloads.ts";
import type { ProtocolEvent } from "./events.ts";
import type { EventFrame } from "./frames.ts";
import type { ParamsOf, ProtocolMethod } from "./methods.ts";
import type { AcceptedResultOf, FinalResultOf, ResultOf } from "./results.ts";

/** One request: methods of the protocol by name have the types of its tables, others those the caller says. */
export interface TypedRequest<Options extends object> {
  /** With `onAccepted` the promise is the final answer of a method that answers twice. */
  <M extends ProtocolMethod>(
    method: M,
    params: ParamsOf<M>,
    options: Omit<Options, "onAccepted"> & { onAccepted(payload: AcceptedResultOf<M>): void },
  ): Promise<FinalResultOf<M>>;
  <M extends ProtocolMethod>(method: M, params: ParamsOf<M>, options?: Options): Promise<ResultOf<M>>;
  <T = unknown, N extends string = string>(
    method: N extends ProtocolMethod ? never : N,
    params?: JsonObject,
    options?: Options,
  ): Promise<T>;
}

/** Listens to events of the protocol by name, to those of plugins, or to every one (`"*"`). Returns the way to stop. */
export interface TypedEvents {
  <E extends ProtocolEvent>(event: E, listener: (payload: EventPayloadOf<E>, frame: EventFrame) => void): () => void;
  <N extends string>(event: N extends ProtocolEvent ? never : N, listener: (payload: JsonObject, frame: EventFrame) => void): () => void;
}
