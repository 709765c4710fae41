import { type CliContext, commonErrors, defaultAgentId, type SvcConfig } from "svc/sdk";
import { createConversations } from "../dreaming/conversations.ts";
import type { DreamingStatus } from "../dreaming/dreaming-types.ts";
import { inspectPlace } from "../dreaming/inspect.ts";
import { operations } from "../dreaming/operations.ts";
import { dreamPlaces } from "../dreaming/places.ts";
import { memoryCoreConfig } from "../dreaming/settings.ts";
import { type DreamPlace, sweep } from "../dreaming/sweep.ts";
import { resolveMemorySettings } from "../settings.ts";
import type { DreamAccess, DreamRunResult } from "./dream-access.ts";

interface Local {
  config: SvcConfig;
  local: Awaited<ReturnType<CliContext["local"]>>;
}

/** Dreaming of the files, by a command that holds the state. */
export function dreamsInProcess(cli: CliContext, { config, local }: Local): DreamAccess {
  const entry = config.plugins.entries["memory-core"]?.config;
  const { enabled, frequency, timezone } = memoryCoreConfig.parse(entry ?? {}).dreaming;
  const places = dreamPlaces(resolveMemorySettings(config, cli.paths.stateDir));
  const context = () => ({ now: Date.now(), timeZone: timezone, signal: cli.signal });
  const at = (agentId: string | undefined) => {
    const id = agentId ?? defaultAgentId(config);
    const place = places.find(({ agentIds }) => agentIds.includes(id));
    if (!place) throw commonErrors.unknownAgent({ agentId: id });
    return { agentId: id, place };
  };
  const chosen = (agentId: string | undefined) => (agentId === undefined ? places : [at(agentId).place]);
  const on = async <T extends object>(agentId: string | undefined, work: (place: DreamPlace) => Promise<T>) => {
    const { agentId: id, place } = at(agentId);
    return { agentId: id, ...(await work(place)) };
  };
  return {
    async status(agentId) {
      const states = await Promise.all(chosen(agentId).map((place) => inspectPlace(place, Date.now())));
      const problem = "no gateway is running; svc gateway start begins one, svc memory dream run sweeps now";
      const job: DreamingStatus["job"] = enabled ? { state: "missing", problem } : { state: "off" };
      const workspaces = states.map((state) => ({ ...state, running: false }));
      return { enabled, frequency, ...(timezone === undefined ? {} : { timezone }), job, workspaces };
    },
    async run(agentId) {
      const conversations = createConversations(() => local.service("store@2"));
      const logger = { warn: (text: string) => cli.stderr.line(text), debug: () => undefined };
      const workspaces: DreamRunResult["workspaces"] = [];
      for (const { workspace, agentIds } of chosen(agentId)) {
        const where = { workspace, agentIds: [...agentIds] };
        const work = sweep({ workspace, agentIds }, { now: Date.now, timeZone: timezone, signal: cli.signal, logger, conversations });
        workspaces.push(
          await work.then(
            (result) => ({ ...where, result }),
            (error: unknown) => {
              cli.signal.throwIfAborted();
              return { ...where, error: error instanceof Error ? error.message : String(error) };
            },
          ),
        );
      }
      return { workspaces };
    },
    candidates: (agentId, params) => on(agentId, (place) => operations.candidates(place, params, context())),
    promote: (agentId, params) => on(agentId, (place) => operations.promote(place, params, context())),
    preview: (agentId, params) => on(agentId, (place) => operations.preview(place, params, context())),
    backfill: (agentId, params) => on(agentId, (place) => operations.backfill(place, params, context())),
    repair: (agentId) => on(agentId, (place) => operations.repair(place, context())),
    close: () => local.close(),
  };
}
