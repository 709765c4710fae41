/** The vector kernel, WebAssembly with SIMD: the bytes of `kernel.wat`, written here by `test/tools/vector-kernel.ts`. */
export const KERNEL_BASE64 =
  "AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwMCAAAHEwIDZG90AAAJZGlmZmVyaW5nAAEKzAMCpQICAn8EewJAA0AgAkUNAf0MAAAAAAAAAAAA" +
  "AAAAAAAAACEHIAAhBSABIANqIQYDQCAB/QAEACII/QwPDw8PDw8PDw8PDw8PDw8P/U4iCSAF/QAEACIK/ZwBIAkgCv2dAf2OASAIQQT9bSIJIAX9AAQQIgr9nAH9" +
  "jgEgCSAK/Z0B/Y4BIAH9AAQQIgj9DA8PDw8PDw8PDw8PDw8PDw/9TiIJIAX9AAQgIgr9nAH9jgEgCSAK/Z0B/Y4BIAhBBP1tIgkgBf0ABDAiCv2cAf2OASAJIAr9" +
  "nQH9jgH9fiAH/a4BIQcgBUHAAGohBSABQSBqIgEgBkkNAAsgBCAH/RsAIAf9GwFqIAf9GwJqIAf9GwNqNgIAIARBBGohBCACQQFrIQIMAAsLC6IBAgJ/AXsCQANA" +
  "IAJFDQH9DAAAAAAAAAAAAAAAAAAAAAAhByAAIQUgASADaiEGA0AgByAB/QAEACAF/QAEAP1R/WL9fSAB/QAEECAF/QAEEP1R/WL9ff2OAf1//a4BIQcgBUEgaiEF" +
  "IAFBIGoiASAGSQ0ACyAEIAf9GwAgB/0bAWogB/0bAmogB/0bA2o2AgAgBEEEaiEEIAJBAWshAgwACwsL";

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
  /** Dot products of an int8 query and rows of four bits a component (`codes.ts`). */
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
