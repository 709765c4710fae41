/** Characters that control a terminal, turn the direction of text around, end a line, or are half a character. Line feeds and tabs are layout. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const unprintableInLines = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text from outside as people may see it, on a terminal or behind a pipe: control characters, bidirectional controls and lone surrogates are
 * shown as `\u001b` instead of being obeyed. Line feeds and tabs stay. Text that was escaped already, and JSON, keep their meaning.
 */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unprintableInLines, escapeOf);
}

/** The same for a cell of a table or a value inside a sentence: line feeds and tabs are shown as well, so that no text forges a line. */
export function printableLine(text: string): string {
  return text.replace(unprintable, escapeOf);
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
