const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COMMA = 0x2c;
/** So many digits tell each float32 from its neighbours; the number it is as a double has up to twice as many. */
const DIGITS = 9;
/** The longest text of a number, with a comma: JavaScript writes up to 21 places before the point. */
const MAX_CHARS = 24;
/** Smallest number that JavaScript writes without an exponent. */
const MIN_PLAIN = 1e-6;
const scales = [1e9, 1e10, 1e11, 1e12, 1e13, 1e14] as const;
/** Written and copied in one step, so that all vectors can share it. */
const scratch = Buffer.allocUnsafe(4_096 * MAX_CHARS);

/** Numbers of a vector as JSON. Digit by digit, because writing 1,536 doubles takes longer than all the rest of a request. */
export function floatsText(vector: Float32Array): string {
  const size = vector.length * MAX_CHARS;
  const out = size <= scratch.length ? scratch : Buffer.allocUnsafe(size);
  let at = 0;
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) out[at++] = COMMA;
    const value = vector[i] as number;
    const distance = Math.abs(value);
    if (distance < MIN_PLAIN || distance >= 0.999) at += out.write(otherText(value), at, "latin1");
    else {
      if (value < 0) out[at++] = MINUS;
      at = writeFraction(out, at, distance);
    }
  }
  return `[${out.toString("latin1", 0, at)}]`;
}

/** Zeros, ones and what else a unit vector rarely has. */
function otherText(value: number): string {
  return JSON.stringify(Number(value.toPrecision(DIGITS)));
}

/** Writes a number from 0.000001 up to less than 1. @returns where it ends */
function writeFraction(out: Buffer, from: number, size: number): number {
  let at = from;
  out[at++] = ZERO;
  out[at++] = POINT;
  let zeros = 0;
  for (let bound = 0.1; size < bound && zeros < scales.length - 1; bound /= 10) {
    zeros += 1;
    out[at++] = ZERO;
  }
  let rest = Math.round(size * (scales[zeros] as number));
  // Rounded up to the next power of ten: one digit more, the first of which takes the place of a zero.
  if (rest >= 1e9) return from + out.write(otherText(size), from, "latin1");
  for (let place = at + DIGITS - 1; place >= at; place--) {
    const next = (rest / 10) | 0;
    out[place] = ZERO + (rest - next * 10);
    rest = next;
  }
  at += DIGITS;
  while (out[at - 1] === ZERO) at--;
  return at;
}
