/** First colours, which commands put in themselves, and clearing to the end of the line, which progress bars do; then single marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are looked for
const special = /\u001b\[[\d;]*[mK]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text as it may reach a terminal: what would move the cursor, set a title, fill the clipboard or turn text around stands there as U+FFFD
 * (`security.md` W-08). Names, answers of a model and errors of a gateway come from anybody. Colours, tabs and line ends stay.
 * @param options.redraws for a line that is drawn again and again: it may be returned to its start and cleared
 */
export function terminalText(text: string, { redraws = false }: { redraws?: boolean } = {}): string {
  return text.replaceAll("\r\n", "\n").replace(special, (found) => {
    if (found.length > 1) return found.endsWith("m") || redraws ? found : "\uFFFD";
    return found === "\r" && redraws ? found : "\uFFFD";
  });
}
