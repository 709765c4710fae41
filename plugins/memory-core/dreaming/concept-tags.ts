import { basename } from "node:path/posix";
import { isStopWord } from "../engine/stop-words.ts";

const MAX_TAGS = 8;
const MIN_CHARS = 3;
const MAX_CHARS = 32;
/** Words with what may join their parts: `home-assistant`, `a.b-c`, `db_main`. */
const joinedWords = /[\p{L}\p{M}\p{N}._/-]+/gu;
const plainWords = /[\p{L}\p{M}\p{N}]+/gu;

/** Words that date or frame an entry, and say nothing of its subject. */
const frames = new Set(
  (
    "january february march april june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec " +
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun morning noon afternoon evening night day week month year " +
    "user assistant note notes memory session sessions agent http https www com org net todo done new old first second next last"
  ).split(" "),
);

/** Subjects of a snippet: up to 8 words of its file name and text, compounds first, each once. Without stop words, numbers and dates. */
export function conceptTags(path: string, snippet: string): string[] {
  const name = basename(path).replace(/\.[a-z]+$/i, "");
  const text = `${/^\d{4}-\d{2}-\d{2}$/.test(name) ? "" : name} ${snippet}`.normalize("NFC").toLowerCase();
  const compounds = (text.match(joinedWords) ?? []).map(trimJoints).filter((word) => /[._/-]/.test(word));
  const tags = new Set<string>();
  for (const word of [...compounds, ...(text.match(plainWords) ?? [])]) {
    if (tags.size >= MAX_TAGS) break;
    if (isSubject(word)) tags.add(word);
  }
  return [...tags];
}

function trimJoints(word: string): string {
  let [from, to] = [0, word.length];
  while (from < to && "._/-".includes(word.charAt(from))) from += 1;
  while (to > from && "._/-".includes(word.charAt(to - 1))) to -= 1;
  return word.slice(from, to);
}

function isSubject(word: string): boolean {
  const isShort = word.length < MIN_CHARS && /^[\p{Script=Latin}\p{N}]+$/u.test(word);
  if (isShort || word.length > MAX_CHARS || isStopWord(word) || frames.has(word)) return false;
  return !/^[\d._/-]+$/.test(word) && !/^\d+(?:st|nd|rd|th|am|pm|h|min|ms|s|kg|g|m|cm|km|l|ml)$/.test(word);
}
