import { randomInt } from "node:crypto";
import { printable } from "../../sdk/text/printable.ts";

/** Marks the colours of this program. No text from outside can hold it, so that only what a command has painted is in colour. */
const seal = randomInt(2 ** 40, 2 ** 47);
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a colour is looked for
const plainStyle = /\u001b\[(\d+)m/g;
const sealedStyle = new RegExp(`\\u001b\\[(\\d+);${seal}m`, "g");
const CLEAR_LINE = "\u001b[K";

/** A colour or weight of `cli.color` that the output of the program recognises; the text in it may come from anywhere. */
export function ownStyle(paint: (text: string) => string): (text: string) => string {
  return (text) => paint(terminalText(text)).replace(plainStyle, `\u001b[$1;${seal}m`);
}

/**
 * Text as it leaves the program: colours of `cli.color` in effect, everything else that would move the cursor, set a title, fill the clipboard or turn
 * text around shown as `\u001b`. Names, answers of a model and errors of a gateway come from anybody. Tabs and line feeds stay.
 * @param options.redraws for progress: a text that begins with CR is drawn over its line, and may end with clearing the rest of it
 */
export function terminalText(text: string, { redraws = false }: { redraws?: boolean } = {}): string {
  if (redraws && text.startsWith("\r")) {
    const clears = text.endsWith(CLEAR_LINE);
    return `\r${terminalText(text.slice(1, clears ? -CLEAR_LINE.length : undefined))}${clears ? CLEAR_LINE : ""}`;
  }
  // Every second part is the number of a sealed colour.
  return text
    .split(sealedStyle)
    .map((part, i) => (i % 2 === 0 ? printable(part) : `\u001b[${part}m`))
    .join("");
}
