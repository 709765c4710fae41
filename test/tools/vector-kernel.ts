/**
 * Source of the WebAssembly module in `plugins/memory-core/engine/vectors/kernel.ts`, with an assembler that knows what it needs.
 * `node test/tools/vector-kernel.ts` prints the module in base64; a test holds the two together.
 *
 * Both functions have the parameters `(query, rows, count, stride, out)`: addresses in the imported memory, the number of rows, their length in bytes
 * (a multiple of 32) and where one 32-bit result a row goes.
 */
const dot = `
  ;; out[r] = sum over i of query[i] * row[i]; the query is int16, rows are int8
  block
    loop
      local.get count
      i32.eqz
      br_if 1
      v128.zero
      local.set a
      v128.zero
      local.set b
      local.get query
      local.set q
      local.get rows
      local.get stride
      i32.add
      local.set end
      loop
        local.get a
        local.get rows
        v128.load8x8_s 0
        local.get q
        v128.load 0
        i32x4.dot_i16x8_s
        local.get rows
        v128.load8x8_s 8
        local.get q
        v128.load 16
        i32x4.dot_i16x8_s
        i32x4.add
        i32x4.add
        local.set a
        local.get b
        local.get rows
        v128.load8x8_s 16
        local.get q
        v128.load 32
        i32x4.dot_i16x8_s
        local.get rows
        v128.load8x8_s 24
        local.get q
        v128.load 48
        i32x4.dot_i16x8_s
        i32x4.add
        i32x4.add
        local.set b
        local.get q
        i32.const 64
        i32.add
        local.set q
        local.get rows
        i32.const 32
        i32.add
        local.tee rows
        local.get end
        i32.lt_u
        br_if 0
      end
      local.get a
      local.get b
      i32x4.add
      local.set a
      ${sumOfLanes()}
      ${nextRow()}
      br 0
    end
  end
`;

const differing = `
  ;; out[r] = number of bits in which the query and the row differ
  block
    loop
      local.get count
      i32.eqz
      br_if 1
      v128.zero
      local.set a
      local.get query
      local.set q
      local.get rows
      local.get stride
      i32.add
      local.set end
      loop
        local.get a
        local.get rows
        v128.load 0
        local.get q
        v128.load 0
        v128.xor
        i8x16.popcnt
        i16x8.extadd_pairwise_i8x16_u
        local.get rows
        v128.load 16
        local.get q
        v128.load 16
        v128.xor
        i8x16.popcnt
        i16x8.extadd_pairwise_i8x16_u
        i16x8.add
        i32x4.extadd_pairwise_i16x8_u
        i32x4.add
        local.set a
        local.get q
        i32.const 32
        i32.add
        local.set q
        local.get rows
        i32.const 32
        i32.add
        local.tee rows
        local.get end
        i32.lt_u
        br_if 0
      end
      ${sumOfLanes()}
      ${nextRow()}
      br 0
    end
  end
`;

function sumOfLanes(): string {
  const lanes = [1, 2, 3].map((lane) => `local.get a\n i32x4.extract_lane ${lane}\n i32.add`);
  return `local.get out\n local.get a\n i32x4.extract_lane 0\n ${lanes.join("\n")}\n i32.store 0`;
}

function nextRow(): string {
  return `local.get out\n i32.const 4\n i32.add\n local.set out\n local.get count\n i32.const 1\n i32.sub\n local.set count`;
}

/** Opcodes of the specification: one byte, or 0xfd and a LEB128 number for vectors. What follows the opcode is in the second place. */
const instructions: Record<
  string,
  readonly [
    code: readonly number[],
    follows?: "local" | "number" | "memory1" | "memory4" | "memory8" | "memory16" | "lane" | "void" | "zero16",
  ]
> = {
  block: [[0x02], "void"],
  loop: [[0x03], "void"],
  br: [[0x0c], "number"],
  br_if: [[0x0d], "number"],
  end: [[0x0b]],
  "local.get": [[0x20], "local"],
  "local.set": [[0x21], "local"],
  "local.tee": [[0x22], "local"],
  "i32.store": [[0x36], "memory4"],
  "i32.const": [[0x41], "number"],
  "i32.eqz": [[0x45]],
  "i32.lt_u": [[0x49]],
  "i32.add": [[0x6a]],
  "i32.sub": [[0x6b]],
  "v128.load": [vector(0x00), "memory16"],
  "v128.load8x8_s": [vector(0x01), "memory8"],
  "v128.zero": [vector(0x0c), "zero16"],
  "v128.xor": [vector(0x51)],
  "i8x16.popcnt": [vector(0x62)],
  "i16x8.extadd_pairwise_i8x16_u": [vector(0x7d)],
  "i32x4.extadd_pairwise_i16x8_u": [vector(0x7f)],
  "i16x8.add": [vector(0x8e)],
  "i32x4.extract_lane": [vector(0x1b), "lane"],
  "i32x4.add": [vector(0xae)],
  "i32x4.dot_i16x8_s": [vector(0xba)],
};

const parameters = ["query", "rows", "count", "stride", "out"];
const i32 = 0x7f;
const v128 = 0x7b;
/** In this order after the parameters. */
const locals: ReadonlyArray<readonly [name: string, type: number]> = [
  ["q", i32],
  ["end", i32],
  ["a", v128],
  ["b", v128],
];

function vector(code: number): number[] {
  return [0xfd, ...leb(code)];
}

/** Unsigned LEB128. */
function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Signed LEB128; only what is not negative is needed. */
function signedLeb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedLeb(value >>> 7)];
}

const names = [...parameters, ...locals.map(([name]) => name)];

function encode(line: string): number[] {
  const [name = "", argument = ""] = line.split(/\s+/);
  const known = instructions[name];
  if (!known) throw new Error(`no instruction "${name}"`);
  const [code, follows] = known;
  return [...code, ...operand(follows, argument)];
}

function operand(kind: string | undefined, argument: string): number[] {
  if (kind === undefined) return [];
  if (kind === "void") return [0x40];
  if (kind === "zero16") return Array<number>(16).fill(0);
  if (kind === "lane") return [Number(argument)];
  if (kind === "number") return signedLeb(Number(argument));
  if (kind === "local") return leb(names.indexOf(argument));
  return [Math.log2(Number(kind.slice("memory".length))), ...leb(Number(argument))];
}

function body(source: string): number[] {
  const lines = source.split("\n").map((line) => line.trim());
  const code = lines.filter((line) => line !== "" && !line.startsWith(";;")).flatMap(encode);
  const declared = locals.flatMap(([, type]) => [1, type]);
  const bytes = [...leb(locals.length), ...declared, ...code, 0x0b];
  return [...leb(bytes.length), ...bytes];
}

function section(id: number, entries: readonly number[][]): number[] {
  const bytes = [...leb(entries.length), ...entries.flat()];
  return [id, ...leb(bytes.length), ...bytes];
}

function text(value: string): number[] {
  const bytes = [...new TextEncoder().encode(value)];
  return [...leb(bytes.length), ...bytes];
}

/** The module: imports `env.memory`, exports `dot` and `differing`. */
export function assembleVectorKernel(): Uint8Array {
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, ...leb(parameters.length), ...parameters.map(() => i32), 0]]),
    ...section(2, [[...text("env"), ...text("memory"), 0x02, 0x00, 0x01]]),
    ...section(3, [[0], [0]]),
    ...section(7, [
      [...text("dot"), 0x00, 0],
      [...text("differing"), 0x00, 1],
    ]),
    ...section(10, [body(dot), body(differing)]),
  ]);
}

if (process.argv[1] === import.meta.filename) console.log(Buffer.from(assembleVectorKernel()).toString("base64"));
