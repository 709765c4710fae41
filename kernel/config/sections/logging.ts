import { z } from "zod";
import { duration, sizeBytes } from "../../../sdk/config/amounts.ts";
import { defaulted, pathText, pattern } from "../../../sdk/config/fields.ts";
import { logLevels } from "../../../sdk/log-levels.ts";

const level = z.enum(logLevels);

/** `logging.*`: what is written down, and where. */
export const loggingSchema = z
  .strictObject({
    level: level.default("info").describe("Minimum level in the log file; `SVC_LOG_LEVEL` wins"),
    consoleLevel: level.default("info").describe("Minimum level on the console; `SVC_LOG_LEVEL` wins"),
    consoleStyle: z
      .enum(["pretty", "compact", "json"])
      .optional()
      .describe("Style on the console; unset: `pretty` on a terminal, else `compact`"),
    file: pathText().optional().describe("Log file, a relative path in the state folder; unset: `logs/gateway-<date>.jsonl` there"),
    maxFileBytes: defaulted(sizeBytes(1_000, 500_000_000), 50_000_000, "50mb").describe("Size at which a file is rotated"),
    maxFiles: z.number().int().min(1).max(100).default(5).describe("Maximum number of rotated files per day"),
    retentionDays: defaulted(duration("d", 1, 3_650), 7).describe("Days after which a file is deleted"),
    redactPatterns: z.array(pattern()).max(100).default([]).describe("Regular expressions; what they match is masked in the log"),
  })
  .meta({ reload: "hot" });
