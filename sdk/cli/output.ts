import type { CliContext } from "../types/cli.ts";
import { terminalText } from "./terminal-text.ts";

type Stream = { write(text: string): unknown; isTTY?: boolean };

/** The two streams of a command. With `--json` nothing but documents reaches stdout: one, or one per line of what is followed. */
export function createOutput(options: { stdout: Stream; stderr: Stream; json: boolean }): Pick<CliContext, "stdout" | "stderr"> {
  const { json } = options;
  let written = false;
  // What a program reads behind a pipe stays as it is; a terminal obeys more than was meant for it.
  const text = (to: Stream, redraws = false) => {
    const shown = (part: string, drawn = false) => (to.isTTY === true ? terminalText(part, { redraws: drawn }) : part);
    return {
      line: (line = "") => void to.write(`${shown(line)}\n`),
      write: (part: string) => void to.write(shown(part, redraws)),
      isTTY: to.isTTY === true,
    };
  };
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
      jsonLine: (value) => void options.stdout.write(`${JSON.stringify(value)}\n`),
    },
    stderr: text(options.stderr, true),
  };
}
