/** Pieces shorter than this are copied together; on its own each would cost more than it holds. */
const SHORT_BYTES = 1_024;
const SLAB_BYTES = 16_384;

/** Bytes that arrive in pieces. */
export interface GatheredBytes {
  add(piece: Buffer): void;
  /** All of them, in order of arrival. */
  joined(): Buffer;
  /** Number of buffers that hold them now. */
  parts(): number;
}

/**
 * Gathers pieces so that their memory follows their bytes, not their number: a sender may cut a body into pieces of one byte, and a buffer object costs a
 * hundred.
 */
export function gatherBytes(): GatheredBytes {
  const parts: Buffer[] = [];
  let size = 0;
  /** Most bodies are one piece, which needs no copy. */
  let first: Buffer | undefined;
  let slab: Buffer | undefined;
  /** Bounds of the bytes in the slab that are no part yet. */
  let [from, to] = [0, 0];
  const flush = () => {
    if (slab && to > from) parts.push(slab.subarray(from, to));
    from = to;
  };
  const put = (piece: Buffer) => {
    if (piece.length >= SHORT_BYTES) {
      flush();
      parts.push(piece);
      return;
    }
    if (!slab || to + piece.length > SLAB_BYTES) {
      flush();
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      [from, to] = [0, 0];
    }
    to += piece.copy(slab, to);
  };
  return {
    add(piece) {
      if (size === 0) first = piece;
      else {
        if (first) put(first);
        first = undefined;
        put(piece);
      }
      size += piece.length;
    },
    joined() {
      if (first) return first;
      flush();
      return Buffer.concat(parts, size);
    },
    parts: () => parts.length + (first || to > from ? 1 : 0),
  };
}
