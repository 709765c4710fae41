/**
 * Parts of a long conversation that are drawn or left out as one. Pure.
 *
 * @typedef {import("./turns.js").Turn} Turn
 */

/** Turns per block; a block far from the view is replaced by its height. Few enough to be drawn between two frames, on a slow machine too. */
const BLOCK_TURNS = 1;
const CHAPTER_BLOCKS = 20;
/** Characters of an answer that are drawn in a frame, about. */
const PIECE_CHARS = 500;
const MOST_PIECES = 60;

/**
 * Turns in blocks whose borders do not move when older ones are put before them.
 * @param {Turn[]} turns
 */
export function blocksOf(turns) {
  /** @type {Array<{ id: number, list: Turn[] }>} */
  const blocks = [];
  for (const turn of turns) {
    const last = blocks.at(-1);
    const id = turn.seq === Number.MAX_SAFE_INTEGER ? (last?.id ?? 0) : Math.floor(turn.seq / (2 * BLOCK_TURNS));
    if (last && last.id >= id) last.list.push(turn);
    else blocks.push({ id, list: [turn] });
  }
  return blocks;
}

/**
 * Blocks in chapters: of a long conversation most blocks need not even exist.
 * @param {ReturnType<typeof blocksOf>} blocks
 */
export function chaptersOf(blocks) {
  /** @type {Array<{ id: number, list: typeof blocks }>} */
  const chapters = [];
  for (const block of blocks) {
    const id = Math.floor(block.id / CHAPTER_BLOCKS);
    const last = chapters.at(-1);
    if (last?.id === id) last.list.push(block);
    else chapters.push({ id, list: [block] });
  }
  return chapters;
}

/** Frames in which turns are drawn: one for the questions, one for the buttons, and for the answers as many as their length asks for. @param {readonly Turn[]} turns */
export function piecesOf(turns) {
  const chars = turns.reduce((all, { items }) => items.reduce((sum, item) => sum + (item.kind === "text" ? item.text.length : 0), all), 0);
  return Math.min(MOST_PIECES, 3 + Math.floor(chars / PIECE_CHARS));
}
