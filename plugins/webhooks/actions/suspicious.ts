import { foldLookAlikes } from "svc/sdk/internal";

/** Phrases of texts that try to pass as instructions. A reader may write them without any harm in mind, so they are counted and never removed. */
const phrases = [
  "\\b(?:ignore|disregard|forget|override)\\s{1,4}(?:all\\s{1,4}|any\\s{1,4}|the\\s{1,4}|your\\s{1,4}|of\\s{1,4}|these\\s{1,4}){0,3}(?:previous|prior|above|earlier|preceding|former|system)\\s{1,4}(?:instruction|prompt|rule|message|direction|context|command|guideline)",
  "\\b(?:forget|disregard)\\s{1,4}(?:everything|all\\s{1,4}(?:that|your)|your\\s{1,4}(?:instructions|rules|training|guidelines))",
  "\\byou\\s{1,4}are\\s{1,4}now\\s{1,4}(?:an?|the|in|no\\s{1,4}longer)\\b",
  "\\b(?:pretend|act)\\s{1,4}(?:to\\s{1,4}be|as\\s{1,4}if|as\\s{1,4}though|as\\s{1,4}an?\\s{1,4}(?:admin|root|developer|system|unrestricted))",
  "\\bnew\\s{1,4}(?:system\\s{1,4})?instructions?\\s{0,4}:",
  "\\bsystem\\s{0,4}:?\\s{0,4}(?:prompt\\s{1,4})?(?:override|command)\\b",
  "\\b(?:reveal|print|show|repeat|output|leak)\\s{1,4}(?:me\\s{1,4})?(?:your|the)\\s{1,4}(?:hidden\\s{1,4}|full\\s{1,4})?(?:system\\s{1,4}prompt|instructions|api\\s{0,2}keys?|secrets?|passwords?|credentials?)",
  "\\b(?:do\\s{1,4}not|don'?t|never)\\s{1,4}(?:tell|inform|mention|alert|notify)\\s{1,4}(?:this\\s{1,4}to\\s{1,4})?(?:the\\s{1,4})?(?:user|owner|operator|anyone|human)",
  "\\brm\\s{1,4}-(?:rf|fr)\\b",
  "\\bdelete\\s{1,4}all\\s{1,4}(?:the\\s{1,4}|your\\s{1,4}|my\\s{1,4})?(?:e-?mails?|files?|data|messages?|records?)",
  "\\|\\s{0,4}(?:sudo\\s{1,4})?(?:ba|z|da)?sh\\b",
  "\\belevated\\s{0,4}=\\s{0,4}true\\b",
  "\\[\\s{0,4}(?:system|assistant|developer|admin)(?:\\s{1,4}(?:message|prompt))?\\s{0,4}\\]",
  "</?\\s{0,4}(?:system|assistant|developer|instructions?)\\s{0,4}>",
  "(?:^|\\n)[ \\t]{0,4}(?:#{1,6}[ \\t]{0,4})?(?:system|developer)\\s{0,4}:",
  "\\b(?:jailbreak|dan\\s{1,4}mode|developer\\s{1,4}mode\\s{1,4}enabled)\\b",
];
const suspicious = new RegExp(phrases.join("|"), "gi");
/** More are not told apart. */
const MAX_COUNT = 1_000;

/** Length after which a text is not scanned any further: a log line is not worth more. */
const MAX_CHARS = 65_536;

/**
 * How often the first 65,536 units of a text use a phrase of those that pass data off as instructions, at most 1,000. For the log: nothing is decided by
 * it.
 */
export function countSuspicious(text: string): number {
  const folded = foldLookAlikes(text.slice(0, MAX_CHARS)).text;
  let count = 0;
  // `matchAll` would make a copy of the expression for each text.
  suspicious.lastIndex = 0;
  while (count < MAX_COUNT && suspicious.test(folded)) count += 1;
  return count;
}
