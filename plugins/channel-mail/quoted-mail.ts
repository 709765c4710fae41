/** Lines that an attribution may be wrapped over, and its longest form in characters. */
const MAX_ATTRIBUTION_LINES = 4;
const MAX_ATTRIBUTION_CHARS = 600;
/** First words of the line that mail programs put before a quotation, which ends with a colon. */
const attribution = /^(?:on|am|le|el|il|op|den|em|w dniu)\s/i;
/** Line that Outlook and others put before a mail that they do not mark otherwise. */
const divider =
  /^-{2,20} ?(?:original message|ursprüngliche nachricht|originalnachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht) ?-{2,20}$/i;
const MAX_DIVIDER_CHARS = 100;

/**
 * Takes the mail that is answered off the end of a text: lines with `>` behind `On … wrote:`, and everything behind `-----Original Message-----`. What stands
 * between or below quoted lines was written by the sender, and stays with them; so does a text that would be empty. Pure, in linear time.
 */
export function withoutQuotedMail(text: string): string {
  const lines = text.split("\n");
  const end = Math.min(dividerIn(lines), quotationIn(lines));
  const own = lines.slice(0, end).join("\n").trimEnd();
  return end === lines.length || own.trim() === "" ? text : own;
}

/** @returns the index of the first divider, or the number of lines */
function dividerIn(lines: readonly string[]): number {
  const at = lines.findIndex((line) => line.length <= MAX_DIVIDER_CHARS && divider.test(line.trim()));
  return at < 0 ? lines.length : at;
}

/** @returns the index of the attribution of a quotation that goes to the end, or the number of lines */
function quotationIn(lines: readonly string[]): number {
  let first = lines.length;
  let hasQuote = false;
  while (first > 0 && isQuotedOrBlank(lines[first - 1])) {
    first -= 1;
    hasQuote ||= lines[first]?.startsWith(">") === true;
  }
  if (!hasQuote || !lines[first - 1]?.trimEnd().endsWith(":")) return lines.length;
  let chars = 0;
  for (let at = first - 1; at >= Math.max(0, first - MAX_ATTRIBUTION_LINES); at--) {
    const line = lines[at] ?? "";
    chars += line.length;
    if (line.trim() === "" || chars > MAX_ATTRIBUTION_CHARS) break;
    if (attribution.test(line)) return at;
  }
  return lines.length;
}

function isQuotedOrBlank(line = ""): boolean {
  return line.startsWith(">") || line.trim() === "";
}
