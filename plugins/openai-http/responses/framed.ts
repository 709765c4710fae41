import { setImmediate as nextTurn } from "node:timers/promises";
import { frameExternal } from "svc/sdk";
import { toWellFormed } from "svc/sdk/internal";

/** Longest text that is framed in one step. */
const FRAME_CHARS = 100_000;

interface Framing {
  maxChars: number;
  name: string | undefined;
  /** Length of the whole text, of which only the beginning was read. */
  chars?: number;
  /** Lines of this program behind the text. */
  notes?: readonly string[];
}

/** The text of a file between markers that nobody can forge; a long one in parts, each in a step of its own. */
export async function framed(text: string, { maxChars, name, chars = text.length, notes = [] }: Framing): Promise<string> {
  const whole = chars > maxChars ? `${toWellFormed(text.slice(0, maxChars))}\n[… ${chars - maxChars} characters left out …]` : text;
  const cut = [...(whole === "" ? [] : [whole]), ...notes].join("\n");
  const frames: string[] = [];
  for (let at = 0; at === 0 || at < cut.length; at += FRAME_CHARS) {
    if (at > 0) await nextTurn();
    const piece = toWellFormed(cut.slice(at, at + FRAME_CHARS));
    frames.push(frameExternal(piece, { source: "File", ...(name === undefined ? {} : { subject: name }) }));
  }
  return frames.join("\n");
}
