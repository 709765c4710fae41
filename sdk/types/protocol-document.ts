import type { EventSpec } from "../protocol/events.ts";
import type { Scope } from "./rpc.ts";
import type { JsonSchema } from "./schema.ts";

/** One method of a plugin as `svc.protocol.json` has it. */
export interface MethodDocument {
  scope: Scope;
  about: string;
  /** It only waits for something to happen. */
  waits?: true;
  params: JsonSchema;
  result: JsonSchema;
}

/** One event of a plugin as `svc.protocol.json` has it. */
export interface EventDocument extends EventSpec {
  payload: JsonSchema;
}
