/**
 * Lines that were taken out and put in, with a few around them. Pure.
 *
 * @typedef {{ sign: "-" | "+" | " ", text: string }} Line
 */

/** Beyond this many pairs of lines the changed part is shown as a whole: out, then in. */
const MOST_PAIRS = 1_000_000;
const AROUND = 2;

/** @param {string} before @param {string} after @returns {Line[]} without what is far from any change; a gap is one empty line of the sign `" "` and the text `…` */
export function diffLines(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  if (middle.length === 0) return [];
  /** @type {Line[]} */
  const all = [...a.slice(0, start).map((text) => line(" ", text)), ...middle, ...a.slice(a.length - end).map((text) => line(" ", text))];
  return near(all);
}

/** @param {Line["sign"]} sign @param {string} text @returns {Line} */
function line(sign, text) {
  return { sign, text };
}

/** By the longest common sequence of lines. @param {string[]} a @param {string[]} b @returns {Line[]} */
function between(a, b) {
  const width = b.length + 1;
  if (a.length * b.length > MOST_PAIRS || a.length === 0 || b.length === 0) {
    return [...a.map((text) => line("-", text)), ...b.map((text) => line("+", text))];
  }
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Line[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(line(" ", a[i] ?? ""));
      [i, j] = [i + 1, j + 1];
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) found.push(line("-", a[i++] ?? ""));
    else found.push(line("+", b[j++] ?? ""));
  }
  return found;
}

/** @param {Line[]} all @returns {Line[]} */
function near(all) {
  const keep = new Set();
  all.forEach(({ sign }, i) => {
    if (sign !== " ") for (let n = i - AROUND; n <= i + AROUND; n++) keep.add(n);
  });
  return all.flatMap((one, i) => (keep.has(i) ? [one] : keep.has(i - 1) && i < all.length ? [line(" ", "…")] : []));
}
