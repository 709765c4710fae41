import { cleanExternalLine } from "svc/sdk";

const MAX_LINE_CHARS = 300;
/** Lines that are logged of one start of a program; what follows is only kept for `lastOutput`. */
const MAX_LOGGED = 50;
const MAX_PENDING_CHARS = 4_096;
const KEPT_LINES = 3;

/** Standard error of a program, line by line: cleaned, cut, without the secrets that it was given, and only the first lines of it. */
export function createStderrLog(
  log: (line: string) => void,
  secrets: readonly string[],
): { add(text: string): void; lastOutput(): string } {
  let pending = "";
  let logged = 0;
  const last: string[] = [];
  const take = (raw: string) => {
    const line = cleanExternalLine(
      secrets.reduce((left, secret) => left.replaceAll(secret, "***"), raw),
      MAX_LINE_CHARS,
    );
    if (line === "") return;
    last.push(line);
    if (last.length > KEPT_LINES) last.shift();
    if (logged++ < MAX_LOGGED) log(line);
    else if (logged === MAX_LOGGED + 1) log("writes more to its standard error, which is not logged");
  };
  return {
    add(text) {
      const lines = (pending + text).split("\n");
      pending = (lines.pop() ?? "").slice(-MAX_PENDING_CHARS);
      for (const line of lines) take(line.slice(0, MAX_PENDING_CHARS));
    },
    lastOutput() {
      if (pending !== "") take(pending);
      pending = "";
      return last.join(" / ");
    },
  };
}
