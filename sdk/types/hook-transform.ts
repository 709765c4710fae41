/** Input of a hook transform. */
export interface HookTransformContext {
  /** Body of the request; of a fan-out with one item in its list. */
  payload: unknown;
  /** Headers by lower-case name, without credentials and signatures. */
  headers: Record<string, string>;
  /** Address of the request as the gateway saw it. */
  url: URL;
  /** Below `hooks.path`. */
  path: string;
}

/** Fields that take the place of the mapping's own. */
export interface HookTransformFields {
  kind?: "wake" | "agent";
  /** Text of a wake. */
  text?: string;
  /** Mode of a wake. */
  mode?: "now" | "next-heartbeat";
  /** Message of an agent run, as are all fields that follow but `agentId` and `sessionKey`. */
  message?: string;
  name?: string;
  agentId?: string;
  sessionKey?: string;
  sessionMode?: "isolated" | "persistent";
  wakeMode?: "now" | "next-heartbeat";
  deliver?: boolean;
  channel?: string;
  to?: string;
  model?: string;
  thinking?: string;
  timeoutSeconds?: number;
}

/** `null`: nothing happens, and the sender gets 204; `undefined`: what the mapping's templates make. */
export type HookTransformResult = HookTransformFields | null | undefined;

/**
 * A function in a file below `hooks.transformsDir`: the default export, one named `transform`, or the one that the mapping names.
 * An exception fails the request; the reason, with file, line and column, is in the log and not in the answer.
 */
export type HookTransform = (context: HookTransformContext) => HookTransformResult | Promise<HookTransformResult>;
