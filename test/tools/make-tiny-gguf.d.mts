/** Bytes of a small model file; the same options give the same bytes. */
export function buildEmbedModel(options?: {
  dim?: number;
  layers?: number;
  ctx?: number;
  seed?: number;
  concepts?: string[][];
  name?: string;
}): Buffer;
export function buildChatModel(options?: { dim?: number; layers?: number; ctx?: number; seed?: number }): Buffer;
