import { createColors } from "picocolors";
import type { CliContext } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "../process/paths.ts";
import { ownStyle } from "./terminal-text.ts";

/** Colours on a terminal unless `--no-color` or `NO_COLOR`; `FORCE_COLOR` asks for them anywhere. */
export function createColor(options: { flag: boolean; env: Env; isTTY: boolean }): CliContext["color"] {
  const { env } = options;
  const forced = envValue(env, "FORCE_COLOR") !== undefined && env.FORCE_COLOR !== "0";
  const colors = createColors(options.flag && envValue(env, "NO_COLOR") === undefined && (forced || options.isTTY));
  const { bold, dim, red, green, yellow, cyan } = colors;
  if (!colors.isColorSupported) return { bold, dim, red, green, yellow, cyan };
  return {
    bold: ownStyle(bold),
    dim: ownStyle(dim),
    red: ownStyle(red),
    green: ownStyle(green),
    yellow: ownStyle(yellow),
    cyan: ownStyle(cyan),
  };
}
