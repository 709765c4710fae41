/** Notes and vendors may say anything; a terminal must not act on it. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}
