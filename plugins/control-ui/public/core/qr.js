import { encode } from "uqr";

/** Light modules around the code, which cameras need to find it. */
const BORDER = 4;

/**
 * The modules of a QR code as one path of unit squares; undefined for a text that no code can hold. Pure.
 * @param {string} text
 * @returns {{ size: number, path: string } | undefined}
 */
export function qrOf(text) {
  const data = rowsOf(text);
  if (!data) return undefined;
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return { size: data.length, path };
}

/** @param {string} text */
function rowsOf(text) {
  try {
    return encode(text, { ecc: "M", border: BORDER }).data;
  } catch {
    return undefined;
  }
}
