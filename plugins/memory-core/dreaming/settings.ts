import { isRecord, isTimeZone, messageOf, type PluginContext, z } from "svc/sdk";

/** Five fields of a crontab; what they mean is checked by `ctx.timers.cron`. */
const fiveFields = /^[\w*,/?#-]{1,60}(?: [\w*,/?#-]{1,60}){4}$/;

/** `plugins.entries.memory-core.config`. Phases and thresholds are the plugin's own business. */
export const memoryCoreConfig = z.strictObject({
  dreaming: z
    .strictObject({
      enabled: z.boolean().default(false).describe("Sweep the short-term memory at night and move what lasts into `MEMORY.md`"),
      frequency: z
        .string()
        .regex(fiveFields, 'expected five fields of a crontab, such as "0 3 * * *"')
        .default("0 3 * * *")
        .describe("Times of the sweep: minute, hour, day, month, weekday"),
      timezone: z
        .string()
        .refine(isTimeZone, { error: 'expected the name of a time zone such as "Europe/Berlin"' })
        .optional()
        .describe("Time zone of `frequency` and of days; unset: the machine's"),
    })
    .prefault({})
    .describe("Dreaming (experimental)"),
});

const SECTION = "plugins.entries.memory-core.config.dreaming";

/** Refuses a config whose times no sweep could follow. */
export function checkDreamingConfig(ctx: Pick<PluginContext, "on" | "timers">): void {
  ctx.on("config.validate", ({ config }, meta) => {
    const own = config.plugins.entries["memory-core"]?.config;
    const { frequency, timezone } = isRecord(own) && isRecord(own.dreaming) ? own.dreaming : {};
    if (typeof timezone === "string" && !isTimeZone(timezone))
      meta.report({ path: `${SECTION}.timezone`, message: 'expected the name of a time zone such as "Europe/Berlin"' });
    if (typeof frequency !== "string" || !fiveFields.test(frequency)) return;
    try {
      void ctx.timers.cron(frequency, () => undefined).dispose();
    } catch (error) {
      meta.report({ path: `${SECTION}.frequency`, message: `expected times of a crontab, such as "0 3 * * *"; ${messageOf(error)}` });
    }
  });
}

export type MemoryCoreConfig = z.output<typeof memoryCoreConfig>;
/** Settings of dreaming, defaults applied. */
export type DreamingSettings = MemoryCoreConfig["dreaming"];
