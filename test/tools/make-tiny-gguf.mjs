#!/usr/bin/env node
/**
 * make-tiny-gguf: writes very small, valid GGUF v3 model files for tests.
 *
 *   node make-tiny-gguf.mjs embed OUT.gguf [--dim 64] [--layers 1] [--ctx 512] [--seed 7] [--concepts FILE.json]
 *   node make-tiny-gguf.mjs chat  OUT.gguf [--dim 64] [--layers 2] [--ctx 4096] [--seed 7]
 *
 * embed  A BERT-shaped encoder (WordPiece vocabulary, mean pooling). Attention and feed-forward weights are tiny, so
 *        a text's vector is close to the mean of its word vectors: texts that share words, or words of one concept
 *        group, come out near each other, and unrelated texts do not. Words outside the vocabulary fall back to their
 *        single letters. A concepts file is a JSON array of word groups, e.g. [["car","automobile"],["cat","kitten"]].
 * chat   A LLaMA-shaped decoder with a byte-fallback vocabulary and random weights. It generates tokens without
 *        meaning; it is there to exercise loading, streaming, stop, abort and token limits.
 *
 * The same arguments give the same bytes (a seeded generator; no clock, no Math.random). No dependency beyond Node.
 * As a module:  import { buildEmbedModel, buildChatModel } from './make-tiny-gguf.mjs'   // each returns a Buffer
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ALIGN = 32;
const T = { u32: 4, i32: 5, f32: 6, bool: 7, str: 8, arr: 9 }; // GGUF value type numbers
const F32 = 0; // ggml tensor type number

/** Small seeded generator (mulberry32 core) with a Gaussian on top. */
function rng(seed) {
  let s = seed >>> 0;
  const next = () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const gauss = () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  return { next, gauss };
}

class Bytes {
  parts = [];
  length = 0;
  push(buf) {
    this.parts.push(buf);
    this.length += buf.length;
  }
  u32(n) {
    const b = Buffer.alloc(4);
    b.writeUInt32LE(n);
    this.push(b);
  }
  u64(n) {
    const b = Buffer.alloc(8);
    b.writeBigUInt64LE(BigInt(n));
    this.push(b);
  }
  f32(n) {
    const b = Buffer.alloc(4);
    b.writeFloatLE(n);
    this.push(b);
  }
  i32(n) {
    const b = Buffer.alloc(4);
    b.writeInt32LE(n);
    this.push(b);
  }
  str(s) {
    const b = Buffer.from(s, "utf8");
    this.u64(b.length);
    this.push(b);
  }
  pad(to) {
    const r = this.length % to;
    if (r) this.push(Buffer.alloc(to - r));
  }
  done() {
    return Buffer.concat(this.parts, this.length);
  }
}

function writeValue(out, type, v) {
  if (type === T.str) out.str(v);
  else if (type === T.u32) out.u32(v);
  else if (type === T.i32) out.i32(v);
  else if (type === T.f32) out.f32(v);
  else if (type === T.bool) out.push(Buffer.from([v ? 1 : 0]));
  else throw new Error(`value type ${type} not supported`);
}

/** meta: [key, type, value] or [key, 'arr', elementType, values]; tensors: { name, dims, data: Float32Array }. */
function encode(meta, tensors) {
  const out = new Bytes();
  out.push(Buffer.from("GGUF"));
  out.u32(3);
  out.u64(tensors.length);
  out.u64(meta.length);
  for (const [key, type, a, b] of meta) {
    out.str(key);
    if (type === "arr") {
      out.u32(T.arr);
      out.u32(a);
      out.u64(b.length);
      for (const v of b) writeValue(out, a, v);
    } else {
      out.u32(type);
      writeValue(out, type, a);
    }
  }
  let offset = 0;
  for (const t of tensors) {
    if (t.data.length !== t.dims.reduce((x, y) => x * y, 1)) throw new Error(`${t.name}: data does not fit its dims`);
    out.str(t.name);
    out.u32(t.dims.length);
    for (const d of t.dims) out.u64(d); // row length first
    out.u32(F32);
    out.u64(offset);
    offset += Math.ceil((t.data.length * 4) / ALIGN) * ALIGN;
  }
  out.pad(ALIGN);
  for (const t of tensors) {
    out.push(Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength));
    out.pad(ALIGN);
  }
  return out.done();
}

const filled = (n, v) => new Float32Array(n).fill(v);
const noise = (r, n, scale) => Float32Array.from({ length: n }, () => r.gauss() * scale);

export const DEFAULT_CONCEPTS = [
  ["car", "automobile", "vehicle", "sedan"],
  ["cat", "kitten", "feline"],
  ["dog", "puppy", "hound"],
  ["money", "cash", "payment", "invoice", "billing"],
  ["doctor", "physician", "clinic", "medicine"],
  ["router", "network", "wifi", "switch"],
  ["password", "secret", "credential", "token"],
  ["meeting", "appointment", "calendar", "schedule"],
  ["food", "meal", "dinner", "lunch", "breakfast"],
  ["house", "home", "apartment", "flat"],
  ["error", "failure", "crash", "bug"],
  ["begin", "start", "launch", "boot"],
  ["coffee", "espresso", "latte"],
  ["ocean", "sea", "beach"],
  ["happy", "glad", "joyful"],
  ["fast", "quick", "rapid"],
];
const FUNCTION_WORDS =
  "a an the of to in on at is are was were be been has have had and or not for with by from as it its this that we i you he she they my our your their".split(
    " ",
  );

export function buildEmbedModel({ dim = 64, layers = 1, ctx = 512, seed = 7, heads = 4, ff = 128, concepts = DEFAULT_CONCEPTS } = {}) {
  const r = rng(seed);
  const tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  const vectors = tokens.map(() => noise(r, dim, 0.02));
  const seen = new Set(tokens);
  const add = (tok, vec) => {
    if (!seen.has(tok)) {
      seen.add(tok);
      tokens.push(tok);
      vectors.push(vec);
    }
  };
  for (const group of concepts) {
    const centre = noise(r, dim, 1);
    for (const word of group) {
      const own = noise(r, dim, 0.35);
      add(
        `\u2581${word.toLowerCase()}`,
        centre.map((c, i) => c + own[i]),
      ); // U+2581 marks the start of a word
    }
  }
  for (const w of FUNCTION_WORDS) add(`\u2581${w}`, noise(r, dim, 0.15));
  // single characters, at the start of a word and inside one (WordPiece falls back to these)
  for (const ch of "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()[]{}<>/\\|-_+=*&^%$#@~`") {
    const v = noise(r, dim, 0.3);
    add(`\u2581${ch}`, v);
    add(
      ch,
      v.map((x) => x * 0.9),
    );
  }
  const n = tokens.length;
  const embd = new Float32Array(n * dim);
  for (const [i, v] of vectors.entries()) embd.set(v, i * dim);
  const tensors = [
    { name: "token_embd.weight", dims: [dim, n], data: embd },
    { name: "token_types.weight", dims: [dim, 2], data: filled(dim * 2, 0) },
    { name: "position_embd.weight", dims: [dim, ctx], data: noise(r, dim * ctx, 0.002) },
    { name: "token_embd_norm.weight", dims: [dim], data: filled(dim, 1) },
    { name: "token_embd_norm.bias", dims: [dim], data: filled(dim, 0) },
  ];
  for (let l = 0; l < layers; l++) {
    const p = `blk.${l}.`;
    for (const m of ["attn_q", "attn_k", "attn_v", "attn_output"]) {
      tensors.push({ name: `${p}${m}.weight`, dims: [dim, dim], data: noise(r, dim * dim, 0.01) });
      tensors.push({ name: `${p}${m}.bias`, dims: [dim], data: filled(dim, 0) });
    }
    for (const m of ["attn_output_norm", "layer_output_norm"]) {
      tensors.push({ name: `${p}${m}.weight`, dims: [dim], data: filled(dim, 1) });
      tensors.push({ name: `${p}${m}.bias`, dims: [dim], data: filled(dim, 0) });
    }
    tensors.push({ name: `${p}ffn_up.weight`, dims: [dim, ff], data: noise(r, dim * ff, 0.01) });
    tensors.push({ name: `${p}ffn_up.bias`, dims: [ff], data: filled(ff, 0) });
    tensors.push({ name: `${p}ffn_down.weight`, dims: [ff, dim], data: noise(r, dim * ff, 0.01) });
    tensors.push({ name: `${p}ffn_down.bias`, dims: [dim], data: filled(dim, 0) });
  }
  const meta = [
    ["general.architecture", T.str, "bert"],
    ["general.name", T.str, "tiny-embed"],
    ["general.alignment", T.u32, ALIGN],
    ["bert.context_length", T.u32, ctx],
    ["bert.embedding_length", T.u32, dim],
    ["bert.block_count", T.u32, layers],
    ["bert.feed_forward_length", T.u32, ff],
    ["bert.attention.head_count", T.u32, heads],
    ["bert.attention.layer_norm_epsilon", T.f32, 1e-12],
    ["bert.attention.causal", T.bool, false],
    ["bert.pooling_type", T.u32, 1], // 1 = mean
    ["tokenizer.ggml.model", T.str, "bert"],
    ["tokenizer.ggml.pre", T.str, "default"],
    ["tokenizer.ggml.token_type_count", T.u32, 2],
    ["tokenizer.ggml.tokens", "arr", T.str, tokens],
    ["tokenizer.ggml.scores", "arr", T.f32, tokens.map(() => -1000)],
    ["tokenizer.ggml.token_type", "arr", T.i32, tokens.map((_, i) => (i < 5 ? 3 : 1))], // 3 control, 1 normal
    ["tokenizer.ggml.padding_token_id", T.u32, 0],
    ["tokenizer.ggml.unknown_token_id", T.u32, 1],
    ["tokenizer.ggml.cls_token_id", T.u32, 2],
    ["tokenizer.ggml.bos_token_id", T.u32, 2],
    ["tokenizer.ggml.seperator_token_id", T.u32, 3], // the key is spelled this way in the format
    ["tokenizer.ggml.eos_token_id", T.u32, 3],
    ["tokenizer.ggml.mask_token_id", T.u32, 4],
  ];
  return encode(meta, tensors);
}

export function buildChatModel({ dim = 64, layers = 2, ctx = 4096, seed = 7, heads = 4, ff = 128 } = {}) {
  const r = rng(seed);
  const tokens = ["<unk>", "<s>", "</s>"];
  const types = [2, 3, 3]; // 2 unknown, 3 control
  for (let b = 0; b < 256; b++) {
    tokens.push(`<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
    types.push(6);
  } // 6 byte
  const pieces = [
    "\u2581",
    ..."abcdefghijklmnopqrstuvwxyz",
    ...["the", "and", "ok", "yes", "no", "gate", "way", "note", "day", "sun"].map((w) => `\u2581${w}`),
  ];
  for (const p of pieces) {
    tokens.push(p);
    types.push(1);
  }
  const n = tokens.length;
  const tensors = [
    { name: "token_embd.weight", dims: [dim, n], data: noise(r, dim * n, 1) },
    { name: "output_norm.weight", dims: [dim], data: filled(dim, 1) },
  ];
  // The output rows of control and byte tokens are small and those of plain pieces large, so that generated text is
  // printable and does not end by chance after a token or two.
  const head = noise(r, dim * n, 0.02);
  for (let t = 3 + 256; t < n; t++) for (let i = 0; i < dim; i++) head[t * dim + i] = r.gauss() * 0.6;
  tensors.push({ name: "output.weight", dims: [dim, n], data: head });
  for (let l = 0; l < layers; l++) {
    const p = `blk.${l}.`;
    tensors.push({ name: `${p}attn_norm.weight`, dims: [dim], data: filled(dim, 1) });
    tensors.push({ name: `${p}ffn_norm.weight`, dims: [dim], data: filled(dim, 1) });
    for (const m of ["attn_q", "attn_k", "attn_v", "attn_output"])
      tensors.push({ name: `${p}${m}.weight`, dims: [dim, dim], data: noise(r, dim * dim, 0.12) });
    tensors.push({ name: `${p}ffn_gate.weight`, dims: [dim, ff], data: noise(r, dim * ff, 0.12) });
    tensors.push({ name: `${p}ffn_up.weight`, dims: [dim, ff], data: noise(r, dim * ff, 0.12) });
    tensors.push({ name: `${p}ffn_down.weight`, dims: [ff, dim], data: noise(r, dim * ff, 0.12) });
  }
  const meta = [
    ["general.architecture", T.str, "llama"],
    ["general.name", T.str, "tiny-chat"],
    ["general.alignment", T.u32, ALIGN],
    ["llama.context_length", T.u32, ctx],
    ["llama.embedding_length", T.u32, dim],
    ["llama.block_count", T.u32, layers],
    ["llama.feed_forward_length", T.u32, ff],
    ["llama.attention.head_count", T.u32, heads],
    ["llama.attention.head_count_kv", T.u32, heads],
    ["llama.attention.layer_norm_rms_epsilon", T.f32, 1e-5],
    ["llama.rope.dimension_count", T.u32, dim / heads],
    ["llama.rope.freq_base", T.f32, 10000],
    ["llama.vocab_size", T.u32, n],
    ["tokenizer.ggml.model", T.str, "llama"],
    ["tokenizer.ggml.pre", T.str, "default"],
    ["tokenizer.ggml.tokens", "arr", T.str, tokens],
    ["tokenizer.ggml.scores", "arr", T.f32, tokens.map((_, i) => (i < 259 ? 0 : -(i - 258)))],
    ["tokenizer.ggml.token_type", "arr", T.i32, types],
    ["tokenizer.ggml.unknown_token_id", T.u32, 0],
    ["tokenizer.ggml.bos_token_id", T.u32, 1],
    ["tokenizer.ggml.eos_token_id", T.u32, 2],
    ["tokenizer.ggml.add_bos_token", T.bool, true],
    ["tokenizer.ggml.add_eos_token", T.bool, false],
  ];
  return encode(meta, tensors);
}

function main(argv) {
  const [kind, out, ...rest] = argv;
  const opts = {};
  for (let i = 0; i < rest.length; i += 2) {
    const key = rest[i]?.replace(/^--/, "");
    const val = rest[i + 1];
    if (!["dim", "layers", "ctx", "seed", "concepts"].includes(key) || val === undefined)
      return usage(`unknown or incomplete option ${rest[i]}`);
    opts[key] = key === "concepts" ? JSON.parse(readFileSync(val, "utf8")) : Number(val);
    if (key !== "concepts" && !(Number.isInteger(opts[key]) && opts[key] > 0)) return usage(`--${key} must be a positive whole number`);
  }
  if (opts.dim && opts.dim % 32) return usage("--dim must be a multiple of 32");
  if (!out || !["embed", "chat"].includes(kind)) return usage();
  const buf = kind === "embed" ? buildEmbedModel(opts) : buildChatModel(opts);
  writeFileSync(out, buf);
  console.log(`${out}: ${buf.length} bytes`);
}
function usage(why) {
  if (why) console.error(why);
  console.error("usage: make-tiny-gguf.mjs (embed|chat) OUT.gguf [--dim N] [--layers N] [--ctx N] [--seed N] [--concepts FILE]");
  process.exitCode = 2;
}
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv.slice(2));
