import type { Disposable } from "svc/sdk";
import type { PlaceResult } from "./dreamer.ts";
import type { PlaceState } from "./inspect.ts";
import type { JobState } from "./managed-job.ts";
import type { RecalledSearch } from "./recall-recorder.ts";
import type { DreamingSettings } from "./settings.ts";
import type { DreamPlace } from "./sweep.ts";

/** State of dreaming as status, doctor and the chat show it. */
export interface DreamingStatus {
  enabled: boolean;
  frequency: string;
  timezone?: string;
  job: JobState;
  workspaces: Array<PlaceState & { running: boolean }>;
}

/** Dreaming of one gateway. */
export interface Dreaming extends Disposable {
  readonly timeZone: string | undefined;
  places(): DreamPlace[];
  status(places: readonly DreamPlace[]): Promise<DreamingStatus>;
  run(places: readonly DreamPlace[]): Promise<PlaceResult[]>;
  /** Brings the indexes of the agents of a workspace up to date. */
  sync(place: DreamPlace): Promise<void>;
  /** Takes note of a search of an agent, in the background; without effect while dreaming is off. */
  recalled(agentId: string, search: Pick<RecalledSearch, "query" | "hits">): void;
  /** Follows changed settings. */
  configure(settings: DreamingSettings): Promise<void>;
}
