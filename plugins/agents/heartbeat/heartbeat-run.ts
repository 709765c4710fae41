/** Settings that make a run a heartbeat. */
export interface HeartbeatRun {
  ackMaxChars: number;
  /** The transcript stays out of the prompt. */
  lightContext: boolean;
  /** Session whose system events it reads; another one than its own when each heartbeat has a transcript of its own. */
  eventsFrom: string;
}

/** Calls of tools in one heartbeat. */
export const MAX_TOOL_CALLS = 10;
