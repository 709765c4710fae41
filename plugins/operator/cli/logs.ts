import { type CliContext, type CliValues, commonErrors, defineCommand } from "svc/sdk";
import { formatLogLine, isWantedLogLine, parseLogLine } from "./log-view.ts";
import { followLog, type LogOutput } from "./logs-follow.ts";
import { createLogSource } from "./logs-source.ts";

const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
type Level = (typeof levels)[number];

/** Options of every command that shows the log. */
export const logOptions = {
  follow: { kind: "flag", description: "Keep printing new lines" },
  limit: { kind: "integer", description: "Maximum number of lines (default 200)", min: 1, max: 5_000, placeholder: "n" },
  "max-bytes": { kind: "integer", description: "Bytes read at a time (default 250000)", min: 1, max: 1_000_000, placeholder: "n" },
  level: { kind: "string", description: "Least level", choices: levels, placeholder: "level" },
  json: { kind: "flag", description: "One JSON document per line" },
  plain: { kind: "flag", description: "No colours" },
  "local-time": { kind: "flag", description: "Local time of day (default)" },
  utc: { kind: "flag", description: "Full time in UTC" },
  interval: {
    kind: "integer",
    description: "With --follow: polling interval (default 1000)",
    min: 100,
    max: 60_000,
    placeholder: "ms",
  },
} as const;

/** `svc logs`: through the running gateway, or from the file when none runs here. */
export default defineCommand({
  path: ["logs"],
  summary: "Show the gateway's log, and follow it",
  details: "Reads through the running gateway, or the file itself when no gateway runs here. With --json there is one document per line.",
  examples: [
    ["What happens now", "svc logs --follow"],
    ["Warnings of plugins", "svc logs --level warn --subsystem plugin"],
  ],
  options: {
    ...logOptions,
    subsystem: { kind: "string", description: "Only this part of the gateway, such as hooks or plugin/agents", placeholder: "name" },
  },
  rpc: true,
  run: (cli, values) => showLog(cli, values, typeof values.subsystem === "string" ? values.subsystem : undefined),
});

/** Prints the log, or what it holds of one part of the gateway. */
export async function showLog(cli: CliContext, values: CliValues, subsystem: string | undefined): Promise<number> {
  if (values.utc === true && values["local-time"] === true) throw commonErrors.usage({ message: "logs: --utc or --local-time, not both" });
  const limits = { limit: number(values.limit, 200), maxBytes: number(values["max-bytes"], 250_000) };
  const output = createOutput(cli, values, subsystem);
  const source = createLogSource(cli, { isNamed: values.url !== undefined, limits, notice: output.notice });
  try {
    const first = await source.read({});
    output.lines(first, true);
    if (values.follow === true) await followLog(source, { first, intervalMs: number(values.interval, 1_000), signal: cli.signal, output });
    return 0;
  } finally {
    await source.close();
  }
}

function createOutput(cli: CliContext, values: CliValues, subsystem: string | undefined): LogOutput {
  const { color, stdout, stderr } = cli;
  const wish = { level: levels.find((level) => level === values.level), subsystem };
  const paint: Partial<Record<Level, (text: string) => string>> =
    values.plain === true ? {} : { debug: color.dim, info: color.green, warn: color.yellow, error: color.red, fatal: color.red };
  const style = { utc: values.utc === true, paint };
  return {
    lines({ file, cursor, lines }, isNew) {
      if (cli.json && isNew) stdout.jsonLine({ type: "meta", file, cursor });
      for (const line of lines.map(parseLogLine).filter((parsed) => isWantedLogLine(parsed, wish))) {
        if (cli.json) stdout.jsonLine(line);
        else stdout.line(formatLogLine(line, style));
      }
    },
    notice(message) {
      if (cli.json) stdout.jsonLine({ type: "notice", message });
      else stderr.line(message);
    },
  };
}

function number(value: CliValues[string], standard: number): number {
  return typeof value === "number" ? value : standard;
}
