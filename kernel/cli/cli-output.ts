import type { CliContext } from "../../sdk/types/cli.ts";
import { tableLines } from "./table.ts";
import { terminalText } from "./terminal-text.ts";

type Stream = { write(text: string): unknown; isTTY?: boolean };

/** The two streams of a command. With `--json` nothing but documents reaches stdout: one, or one per line of what is followed. */
export function createOutput(options: {
  stdout: Stream;
  stderr: Stream;
  json: boolean;
  /** Paints the head of a table. */
  bold: (text: string) => string;
}): Pick<CliContext, "stdout" | "stderr"> {
  const { json, bold } = options;
  let written = false;
  // Behind a pipe as well: it may end in a terminal, and a document in JSON keeps its meaning.
  const text = (to: Stream, redraws = false) => ({
    line: (line = "") => void to.write(`${terminalText(line)}\n`),
    write: (part: string) => void to.write(terminalText(part, { redraws: redraws && to.isTTY === true })),
    isTTY: to.isTTY === true,
  });
  // Human text of a command that forgot about `--json` is still worth reading, but not on stdout.
  const out = text(json ? options.stderr : options.stdout);
  return {
    stdout: {
      ...out,
      isTTY: options.stdout.isTTY === true && !json,
      table(head, rows) {
        for (const [i, row] of tableLines(head, rows).entries()) out.line(i === 0 ? bold(row) : row);
      },
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
