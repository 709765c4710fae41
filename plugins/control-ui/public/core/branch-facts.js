/** @typedef {{ seq: number, current: number, branches: Array<{ key: string, seq: number }> }} BranchPoint */

/**
 * Points where a conversation branches, by the turns whose questions stand there. Those before the first turn that is here are left out.
 * @param {readonly import("./turns.js").Turn[]} turns in order @param {readonly BranchPoint[]} points @returns {Map<string, BranchPoint>}
 */
export function pointsByTurn(turns, points) {
  const oldest = turns.find(({ seq }) => seq < Number.MAX_SAFE_INTEGER)?.seq ?? 0;
  return new Map(
    points.flatMap((point) => {
      const turn = turns.find(({ seq, items }) => seq >= point.seq && items.some(({ kind }) => kind === "user"));
      return turn && point.seq >= oldest ? [/** @type {const} */ ([turn.key, point])] : [];
    }),
  );
}
