/**
 * Text of an id: no control characters, no line or paragraph separators, no lone surrogates. A lone surrogate is half a character: UTF-8 cannot hold it, so a
 * database gives another id back than it was given, and one session becomes two.
 */
export const idPattern = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** Describes the values that {@link idPattern} accepts. */
export const idExpectation = "expected text without control characters and lone surrogates";

/** Says why a text is no id, as the end of a sentence such as "invalid session key: …"; undefined for one that may be an id. */
export function idFault(text: string): string | undefined {
  if (idPattern.test(text)) return undefined;
  return isWellFormed(text) ? "control characters are not allowed" : "lone surrogates (halves of a character) are not allowed";
}

/**
 * An id out of a foreign message, where refusing would lose the message: each character that no id may hold becomes U+FFFD. Ids that programs name
 * themselves are refused instead, with {@link idFault}.
 */
export function toIdText(text: string): string {
  return idPattern.test(text) ? text : text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

/** Text with U+FFFD in the place of each lone surrogate, as UTF-8 would hold it. */
export function toWellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "\uFFFD");
}

/** True for text without lone surrogates: text that UTF-8 and a database give back as it was. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}
