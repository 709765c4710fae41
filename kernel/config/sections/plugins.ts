import { z } from "zod";
import { durationMs } from "../../../sdk/config/amounts.ts";
import { defaulted, documented, pathText, secret } from "../../../sdk/config/fields.ts";

const hookTimeoutMs = () => durationMs(1, 600_000);
const stepTimeoutMs = () => durationMs(100, 600_000);

const entry = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe(
        "Load the plugin; unset: depends on its origin (bundled: its manifest; named in the config or installed: yes; otherwise no)",
      ),
    config: documented(z.record(z.string(), z.unknown()), {}).describe("The plugin's own config, by its own schema; kept while it is off"),
    env: documented(z.record(z.string().min(1), secret()), {}).describe("Environment variables that only this plugin sees"),
    grants: documented(z.array(z.string().min(1)), []).describe("Permissions granted to a plugin that is not bundled"),
    hooks: z
      .strictObject({
        timeoutMs: hookTimeoutMs().optional().describe("Time-out of all its hook handlers, instead of their own"),
        timeouts: documented(z.record(z.string().min(1), hookTimeoutMs()), {}).describe("Time-out by hook"),
      })
      .optional(),
    required: documented(z.boolean(), false).describe("The gateway does not start without it"),
    limits: z
      .strictObject({
        setupTimeoutMs: documented(stepTimeoutMs(), 30_000).describe("Time limit for import and setup"),
        startTimeoutMs: documented(stepTimeoutMs(), 30_000).describe("Time limit for the start"),
        stopTimeoutMs: documented(stepTimeoutMs(), 5_000).describe("Time limit for the stop"),
      })
      .optional(),
    isolation: z
      .enum(["worker", "process"])
      .optional()
      .describe(
        "Run it in a worker thread or in a child process, for plugins of tools, hook presets and observe hooks only; unset: in the gateway",
      ),
  })
  .meta({ reload: "plugin" });

/** `plugins.*`: which plugins load, from where, with what. */
export const pluginsSchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Off: only the kernel runs"),
    allow: z.array(z.string().min(1)).optional().describe("When set, only these load, bundled ones included"),
    deny: z.array(z.string().min(1)).default([]).describe("These never load; wins over everything"),
    load: z
      .strictObject({
        paths: z.array(pathText()).default([]).describe("Plugin folders and files; `~` is expanded, relative to the config file"),
      })
      .prefault({}),
    slots: z
      .strictObject({ memory: z.string().min(1).default("memory-core").describe("Plugin that provides memory, or `none`") })
      .prefault({}),
    entries: z.record(z.string().min(1), entry).default({}),
    reload: z
      .strictObject({
        watch: z.boolean().default(false).describe("Reload a plugin when one of its files changes"),
        drainMs: defaulted(durationMs(0, 600_000), 10_000, "10s").describe("How long a replaced instance may take to finish its calls"),
      })
      .prefault({})
      .meta({ reload: "none" }),
  })
  .meta({ reload: "restart" });
