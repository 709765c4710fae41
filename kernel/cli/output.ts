import { createColors } from "picocolors";
import { type Env, envValue } from "../../sdk/host/paths.ts";
import type { CliContext } from "../../sdk/types/cli.ts";

type Stream = { write(text: string): unknown; isTTY?: boolean };

/** The two streams of a command. With `--json` nothing but the one document reaches stdout. */
export function createOutput(options: { stdout: Stream; stderr: Stream; json: boolean }): Pick<CliContext, "stdout" | "stderr"> {
  const { json } = options;
  let written = false;
  const text = (to: Stream) => ({
    line: (line = "") => void to.write(`${line}\n`),
    write: (part: string) => void to.write(part),
    isTTY: to.isTTY === true,
  });
  // Human text of a command that forgot about `--json` is still worth reading, but not on stdout.
  const out = text(json ? options.stderr : options.stdout);
  return {
    stdout: {
      ...out,
      isTTY: options.stdout.isTTY === true && !json,
      json(value) {
        if (written) return;
        written = true;
        options.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
      },
    },
    stderr: text(options.stderr),
  };
}

/** Colours on a terminal unless `--no-color` or `NO_COLOR`; `FORCE_COLOR` asks for them anywhere. */
export function createColor(options: { flag: boolean; env: Env; isTTY: boolean }): CliContext["color"] {
  const { env } = options;
  const forced = envValue(env, "FORCE_COLOR") !== undefined && env.FORCE_COLOR !== "0";
  const { bold, dim, red, green, yellow, cyan } = createColors(
    options.flag && envValue(env, "NO_COLOR") === undefined && (forced || options.isTTY),
  );
  return { bold, dim, red, green, yellow, cyan };
}
