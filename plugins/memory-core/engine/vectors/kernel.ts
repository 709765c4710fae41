/** The vector kernel, 464 bytes of WebAssembly with SIMD; `test/tools/vector-kernel.ts` is its source and makes it. */
export const KERNEL_BASE64 =
  "AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwMCAAAHEwIDZG90AAAJZGlmZmVyaW5nAAEKjwMC5AEEAX8BfwF7AXsCQANAIAJFDQH9DAAA" +
  "AAAAAAAAAAAAAAAAAAAhB/0MAAAAAAAAAAAAAAAAAAAAACEIIAAhBSABIANqIQYDQCAHIAH9AQMAIAX9AAQA/boBIAH9AQMIIAX9AAQQ/boB/a4B/a4BIQcg" +
  "CCAB/QEDECAF/QAEIP26ASAB/QEDGCAF/QAEMP26Af2uAf2uASEIIAVBwABqIQUgAUEgaiIBIAZJDQALIAcgCP2uASEHIAQgB/0bACAH/RsBaiAH/RsCaiAH" +
  "/RsDajYCACAEQQRqIQQgAkEBayECDAALCwumAQQBfwF/AXsBewJAA0AgAkUNAf0MAAAAAAAAAAAAAAAAAAAAACEHIAAhBSABIANqIQYDQCAHIAH9AAQAIAX9" +
  "AAQA/VH9Yv19IAH9AAQQIAX9AAQQ/VH9Yv19/Y4B/X/9rgEhByAFQSBqIQUgAUEgaiIBIAZJDQALIAQgB/0bACAH/RsBaiAH/RsCaiAH/RsDajYCACAEQQRq" +
  "IQQgAkEBayECDAALCws=";

/** Part of `WebAssembly` that is used; neither the language's library nor Node's types declare it. */
interface WebAssemblyApi {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { exports: VectorKernel };
  Memory: new (size: { initial: number }) => WasmMemory;
}

/** Memory in pages of 64 KiB. */
export interface WasmMemory {
  /** Another one after each `grow`. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi };

/**
 * Compares one query with `count` rows of `stride` bytes (a multiple of 32) at `rows`, and writes one 32-bit number a row to `out`.
 * All are addresses in the memory the kernel was made with.
 */
export type RowComparison = (query: number, rows: number, count: number, stride: number, out: number) => void;

export interface VectorKernel {
  /** Dot products of an int16 query and int8 rows. */
  dot: RowComparison;
  /** Number of bits that differ. */
  differing: RowComparison;
}

let compiled: object | false | undefined;

/** False where this processor or Node knows no WebAssembly SIMD. */
export function hasVectorKernel(): boolean {
  return module() !== undefined;
}

/** @throws {RangeError} when the memory cannot be had */
export function createMemory(pages: number): WasmMemory {
  return new WebAssembly.Memory({ initial: pages });
}

/** @throws when `hasVectorKernel()` is false */
export function openKernel(memory: WasmMemory): VectorKernel {
  const code = module();
  if (!code) throw new Error("WebAssembly SIMD is not available");
  return new WebAssembly.Instance(code, { env: { memory } }).exports;
}

function module(): object | undefined {
  compiled ??= compile();
  return compiled || undefined;
}

function compile(): object | false {
  const bytes = Buffer.from(KERNEL_BASE64, "base64");
  return WebAssembly.validate(bytes) && new WebAssembly.Module(bytes);
}
