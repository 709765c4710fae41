import { definePlugin, type PluginContext } from "svc/sdk";
import { addNote } from "./add-note.ts";
import { Breakers } from "./breaker.ts";
import { NoteCache } from "./cache.ts";
import { activeMemoryCommand } from "./command.ts";
import { registerChecks } from "./doctor.ts";
import { settingsSchema } from "./settings.ts";
import { StatusLines } from "./status-lines.ts";
import { SessionToggles } from "./toggles.ts";
import { Transcripts } from "./transcripts.ts";

/** Longest time limit of a search, and time to spare: the search itself ends at its own. */
const HOOK_MS = 62_000;
/** After plugins that take tools out. */
const LAST = -1_000;

/** Searches memory ahead of an answer, and puts a short note into the prompt of that turn. */
export default definePlugin({
  id: "active-memory",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  config: settingsSchema,
  setup(ctx) {
    let settings = ctx.config;
    const { clock, logger, stateDir } = ctx;
    const [cache, breakers, toggles] = [new NoteCache(clock), new Breakers(clock), new SessionToggles(stateDir, logger)];
    const transcripts = new Transcripts({ stateDir, folder: () => settings.transcriptDir, clock, logger });
    const [agents, store] = [() => ctx.service("agents@1"), () => ctx.service("store@2")];
    const lines = new StatusLines({ agents, messaging: () => ctx.service("messaging@1"), logger });
    const deps = { ctx, agents, store, cache, breakers, transcripts };

    ctx.on("prompt.build", (event, meta) => addNote(event, meta, { ...deps, settings, toggles, lines }), {
      filter: { trigger: "user" },
      priority: LAST,
      timeoutMs: HOOK_MS,
    });
    ctx.on("agent.end", (event) => lines.ended(event), { filter: { trigger: "user" } });
    ctx.on("outbound.sent", (event) => lines.sent(event));
    ctx.on("session.end", ({ sessionKey, reason }) => (reason === "deleted" ? toggles.set(sessionKey, true) : undefined));
    ctx.contribute(
      "chatCommand",
      "active-memory",
      activeMemoryCommand({ settings: () => settings, toggles, setGlobal: (isOn, by) => setGlobal(ctx, isOn, by) }),
    );
    registerChecks(ctx, { settings: () => settings, breakers });
    return {
      start: () => toggles.load(),
      onConfigChange(next) {
        settings = next;
        cache.clear();
        breakers.clear();
        return true;
      },
    };
  },
});

async function setGlobal(ctx: Pick<PluginContext, "service">, enabled: boolean, by: string): Promise<void> {
  const patch = { plugins: { entries: { "active-memory": { config: { enabled } } } } };
  await ctx.service("config@1").patch(patch, { note: `/active-memory ${enabled ? "on" : "off"} --global by ${by}` });
}
