import { rotated } from "./rotation.ts";
import { MIN_NORM, normOf } from "./similarity.ts";

/** Width of a level, as a part of the spread of the components: with sixteen of them this loses least of a normal distribution. */
const STEP = 0.335;
const LEVELS = 16;
/** Components whose codes the kernel reads at a time. */
const BLOCK = 64;

/** A query in the form that is compared with codes. */
export interface QueryCode {
  /** Components in one byte each. */
  levels: Int8Array;
  /** The same as a stored vector has it. */
  code: Uint8Array;
}

/** Bytes of the code of a vector: half a byte a component, up to a multiple of 32. */
export function codeBytes(dims: number): number {
  return (Math.ceil(dims / BLOCK) * BLOCK) / 2;
}

/**
 * The direction of a vector in four bits a component; undefined when it has none. Components `i` and `i + 16` of each 32 share a byte, the first in its low half,
 * so that the kernel can take sixteen neighbours at once. A product with a query differs from the exact one by noise of a tenth of what similarities of
 * unrelated vectors are spread by.
 */
export function encode(vector: Float32Array): Uint8Array | undefined {
  const dims = vector.length;
  const norm = normOf(vector);
  if (!(norm >= MIN_NORM)) return undefined;
  const steps = rotated(vector, Math.sqrt(dims) / STEP / norm);
  const code = new Uint8Array(codeBytes(dims));
  for (let i = 0; i < dims; i++) {
    const level = Math.max(0, Math.min(LEVELS - 1, Math.floor(steps[i] as number) + LEVELS / 2));
    const at = byteOf(i);
    code[at] = (code[at] as number) | ((i & 16) === 0 ? level : level << 4);
  }
  return code;
}

/** @returns undefined for a vector without a direction */
export function encodeQuery(vector: Float32Array): QueryCode | undefined {
  const code = encode(vector);
  if (!code) return undefined;
  const values = rotated(vector, 1);
  const most = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const levels = new Int8Array(2 * code.length);
  for (let i = 0; i < values.length; i++) levels[i] = Math.round(((values[i] as number) * 127) / most);
  return { levels, code };
}

/** A stored vector as a query. */
export function queryOf(code: Uint8Array, dims: number): QueryCode {
  const levels = new Int8Array(2 * code.length);
  for (let i = 0; i < dims; i++) {
    const byte = code[byteOf(i)] as number;
    const level = (i & 16) === 0 ? byte & 15 : byte >> 4;
    levels[i] = 2 * level - (LEVELS - 1);
  }
  return { levels, code: code.slice() };
}

/** The signs of the components, one bit each. */
export function signsOf(code: Uint8Array): Uint8Array {
  const signs = new Uint8Array(Math.ceil(code.length / 4));
  for (let i = 0; i < code.length; i++) {
    const byte = code[i] as number;
    const pair = ((byte >> 3) & 1) | ((byte >> 6) & 2);
    signs[i >> 2] = (signs[i >> 2] as number) | (pair << (2 * (i & 3)));
  }
  return signs;
}

function byteOf(component: number): number {
  return ((component >> 5) << 4) | (component & 15);
}
