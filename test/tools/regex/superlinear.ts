import { cpuMs } from "../growth.ts";
import { type Attack, attacksOn } from "./attacks.ts";

/** Lengths of the strings, small ones first: neither exponential nor cubic work must be met with a long one. */
const lengths = [10, 16, 22, 30, 40, 64, 256, 4_096];
/** Above this time a string is worth a second look; linear work on the longest takes some microseconds. */
const SUSPICIOUS_MS = 0.3;
/** Factor between the two lengths that are compared, and what a character of the longer one may cost more when the work is linear. */
const STEP = 4;
const LINEAR = 2.2;
const CLEARLY_LINEAR = 1.5;
const ROUNDS = 5;
const TRIES = 4;
/** Beyond this length, and with work that takes this long, nothing is left to doubt. */
const MAX_LENGTH = 8_000;
const HOPELESS_MS = 100;

/** The family of strings on which the work of an expression grows faster than the string, or undefined. */
export function superlinearOn(regex: RegExp): Attack | undefined {
  const everywhere = new RegExp(regex.source, regex.flags.includes("g") ? regex.flags : `${regex.flags}g`);
  return attacksOn(regex).find((attack) => {
    const length = lengths.find((one) => isSlow(everywhere, textOf(attack, one)));
    if (length === undefined) return false;
    return keepsGrowing(everywhere, attack, length);
  });
}

/** The string of a family that has about this length. */
function textOf({ head, pump, tail }: Attack, length: number): string {
  return head + pump.repeat(Math.max(1, Math.ceil((length - head.length) / pump.length))) + tail;
}

/** Seeks every match of the text, so that all of it is gone through. */
function run(regex: RegExp, text: string): void {
  regex.lastIndex = 0;
  text.replace(regex, "");
}

function isSlow(regex: RegExp, text: string): boolean {
  for (let i = 0; i < ROUNDS; i++) {
    const from = performance.now();
    run(regex, text);
    if (performance.now() - from < SUSPICIOUS_MS) return false;
  }
  return true;
}

/** A bounded repetition costs more and more until its bound is reached: only what goes on growing counts. */
function keepsGrowing(regex: RegExp, attack: Attack, length: number): boolean {
  // Exponential work shows at once; a much longer string would not end.
  const longer = length < 64 ? length + 6 : length * STEP;
  const { ratio, largeMs } = growth(regex, attack, { length, longer });
  if (ratio <= LINEAR) return false;
  return longer > MAX_LENGTH || largeMs > HOPELESS_MS || keepsGrowing(regex, attack, longer);
}

/** How much dearer a character gets in a longer string of the family: 1 for linear work, 4 for quadratic. The least times of several tries are compared. */
function growth(regex: RegExp, attack: Attack, { length, longer }: { length: number; longer: number }) {
  const [short, long] = [textOf(attack, length), textOf(attack, longer)];
  let [smallMs, largeMs, ratio] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < TRIES; i++) {
    smallMs = Math.min(
      smallMs,
      cpuMs(() => run(regex, short), ROUNDS),
    );
    largeMs = Math.min(
      largeMs,
      cpuMs(() => run(regex, long), 1),
    );
    ratio = (largeMs / smallMs) * (length / longer);
    if (ratio < CLEARLY_LINEAR || largeMs > HOPELESS_MS) break;
  }
  return { ratio, largeMs };
}
