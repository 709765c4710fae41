import type { ChatCommand, ContributionView, PluginContext, Store, SvcConfig } from "svc/sdk";
import type { KeyedMutex } from "svc/sdk/internal";
import type { Directory } from "./directory.ts";
import type { AgentFigures } from "./figures.ts";
import type { Catalog } from "./models/catalog.ts";
import type { ModelChoice } from "./models/choice.ts";
import type { Cooldown } from "./models/cooldown.ts";
import type { ModelStates } from "./models/states.ts";
import type { ToolSupport } from "./models/tool-support.ts";
import type { Windows } from "./models/windows.ts";
import type { WorkspaceRecord } from "./registry/workspace-record.ts";
import type { Lanes } from "./runs/lanes.ts";
import type { LeftOut } from "./runs/left-out.ts";
import type { LiveRuns } from "./runs/live-runs.ts";
import type { Run } from "./runs/run.ts";
import type { RunEvents } from "./runs/run-events.ts";
import type { SessionEnds } from "./sessions/ends.ts";
import type { Subscriptions } from "./sessions/subscriptions.ts";
import type { RefusalCount } from "./tools/refusals.ts";
import type { ToolBox } from "./tools/toolbox.ts";
import type { TraceLog } from "./traces/trace-log.ts";
import type { WorkspacePrompt } from "./workspace/files.ts";

/**
 * The parts of this plugin, handed to whoever works. `config`, `directory`, `models` and `workspace` are those of the snapshot in force, so they
 * are read where they are used and never kept; the others are made once per instance.
 */
export interface Kit {
  readonly ctx: PluginContext;
  readonly config: SvcConfig;
  readonly bootId: string;
  store(): Store;
  readonly directory: Directory;
  readonly tools: ToolBox;
  /** Of calls without a run. */
  readonly refusals: RefusalCount;
  /** Commands that plugins bring to every chat. */
  readonly chatCommands: ContributionView<ChatCommand>;
  readonly catalog: Catalog;
  readonly models: ModelChoice;
  readonly workspace: WorkspacePrompt;
  readonly workspaces: WorkspaceRecord;
  readonly cooldown: Cooldown;
  readonly modelStates: ModelStates;
  readonly toolSupport: ToolSupport;
  readonly windows: Windows;
  readonly lanes: Lanes;
  readonly figures: AgentFigures;
  /** Guards the row of a session: accept, reset, delete and patch of one key happen one after the other. */
  readonly sessionLock: KeyedMutex;
  readonly events: RunEvents;
  readonly ends: SessionEnds;
  readonly subscriptions: Subscriptions;
  readonly leftOut: LeftOut;
  readonly runs: LiveRuns;
  readonly traces: TraceLog;
  /** Transcripts that are being copied: no session has them yet, and nobody may clear them away. */
  readonly copies: Set<string>;
  /** A text without secrets. */
  redact(text: string): Promise<string>;
}

/** Runs of a session that are not settled, in order of acceptance. */
export function runsOf(kit: { runs: ReadonlyMap<string, Run> }, sessionKey: string): Run[] {
  return [...kit.runs.values()].filter((run) => run.sessionKey === sessionKey);
}
