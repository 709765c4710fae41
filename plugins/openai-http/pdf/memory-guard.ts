/** Arrays are counted one by one from this size on; smaller ones once they are so large together. */
const COUNTED_BYTES = 262_144;
/** Memory of one WebAssembly module, which decodes one picture at a time. */
const MAX_WASM_BYTES = 256 * 1024 * 1024;
const WASM_PAGE_BYTES = 65_536;

const guarded = [
  "ArrayBuffer",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int8Array",
  "Uint16Array",
  "Int16Array",
  "Uint32Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
] as const;

type ArrayConstructor = (new (...args: unknown[]) => object) & { BYTES_PER_ELEMENT?: number };

interface WasmMemory {
  buffer: { byteLength: number };
  grow(pages: number): number;
}

type Scope = Record<string, unknown> & { WebAssembly: { Memory: { prototype: WasmMemory } } };

/**
 * Bounds the array memory of this thread, which the limits of a thread do not: a stream of kilobytes unpacks to gigabytes. Once for the life of the thread; code that
 * runs later gets a `RangeError` for what it asks beyond it.
 * @param scope globals of the thread; others are of use to tests only
 * @returns whether it asked for more, even if it went on without
 */
export function guardMemory(maxBytes: number, scope = globalThis as unknown as Scope): () => boolean {
  let isExceeded = false;
  let uncounted = 0;
  const refuse = () => {
    isExceeded = true;
    throw new RangeError("memory limit of this PDF");
  };
  const spend = (bytes: number) => {
    uncounted += bytes;
    if (uncounted < COUNTED_BYTES) return;
    uncounted = 0;
    if (process.memoryUsage().arrayBuffers + bytes > maxBytes) refuse();
  };
  for (const name of guarded) {
    const plain = scope[name] as ArrayConstructor | undefined;
    if (!plain) continue;
    const unit = plain.BYTES_PER_ELEMENT ?? 1;
    const counting: ArrayConstructor = new Proxy(plain, {
      construct(target, args: unknown[], asked) {
        if (typeof args[0] === "number") spend(args[0] * unit);
        return Reflect.construct(target, args, asked === counting ? target : asked) as object;
      },
    });
    scope[name] = counting;
  }
  const { prototype } = scope.WebAssembly.Memory;
  const { grow } = prototype;
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES > MAX_WASM_BYTES) refuse();
    return grow.call(this, pages);
  };
  // It unpacks outside of what is counted; PDF.js goes on without it.
  Reflect.deleteProperty(scope, "DecompressionStream");
  return () => isExceeded;
}
