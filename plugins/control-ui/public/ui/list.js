import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../core/html.js";
import { WindowedBlocks } from "./window.js";

/** Few enough to be drawn between two frames, on a slow machine too. */
const BLOCK_ROWS = 3;
const PAGE_BLOCK_ROWS = 1;
const NEAR_END_PX = 24;
/** A scroll event this soon after a wheel, touch, key or drag is the reader's own; flicks roll on for a while. */
const INTENT_MS = 1_500;
const upKeys = ["ArrowUp", "PageUp", "Home"];
const scrollKeys = [...upKeys, "ArrowDown", "PageDown", "End", " "];

/**
 * Long list that grows at its end. Only what is near the view exists in the document. While it follows, the newest row is in view; that is a wish of
 * the reader and never derived from where the view happens to be.
 *
 * @template {{ id: number }} Row
 * @param {{ rows: Row[], draw: (row: Row) => any, rowHeight: number, label: string, isFollowing: boolean, onFollow: (wish: boolean) => void, children?: any,
 *   kind?: string }} props `rowHeight`: of a row that was not drawn yet, px; `children`: what stands before the first row
 */
export function LongList({ rows, draw, rowHeight, label, isFollowing, onFollow, children, kind = "" }) {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const wish = useRef(isFollowing);
  wish.current = isFollowing;
  useEffect(() => watchReader(/** @type {HTMLElement} */ (scroller.current), wish, onFollow), [onFollow]);
  // Growth after that is told by the observer, when the layout is known.
  useLayoutEffect(() => {
    if (wish.current) jumpToEnd(scroller.current);
  }, [isFollowing]);
  const blocks = useMemo(() => blocksOf(rows), [rows]);
  const drawRows = useCallback((/** @type {Row[]} */ list) => list.map(draw), [draw]);
  return html`<div ref=${scroller} class=${`long-list ${kind}`} tabindex="0" role="region" aria-label=${label}>
    <div>
      ${children}
      <${WindowedBlocks} blocks=${blocks} draw=${drawRows} rowHeight=${rowHeight} root=${scroller} isAtEnd=${isFollowing} />
    </div>
  </div>`;
}

/**
 * Rows in blocks whose borders do not move when the oldest rows go.
 * @template {{ id: number }} Row
 * @param {Row[]} rows
 */
function blocksOf(rows) {
  /** @type {Array<{ id: number, list: Row[] }>} */
  const blocks = [];
  for (const row of rows) {
    const id = Math.floor(row.id / BLOCK_ROWS);
    const last = blocks.at(-1);
    if (last?.id === id) last.list.push(row);
    else blocks.push({ id, list: [row] });
  }
  return blocks;
}

/**
 * List of a page, in its order: what is far from the view is empty space. Rows are drawn without keys: one that comes takes the elements of one that goes, so
 * that they are filled instead of made. What a row remembers names the thing it is about.
 *
 * @template {object} Row
 * @param {{ rows: Row[], draw: (row: Row) => any, rowHeight: number, kind?: string }} props `draw`: the same function as long as it draws the same; `rowHeight`: of
 *   a row that was not drawn yet, px
 */
export function PageList({ rows, draw, rowHeight, kind = "" }) {
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  root.current ??= document.getElementById("main");
  const blocks = useMemo(
    () =>
      Array.from({ length: Math.ceil(rows.length / PAGE_BLOCK_ROWS) }, (_, id) => ({
        id,
        list: rows.slice(id * PAGE_BLOCK_ROWS, (id + 1) * PAGE_BLOCK_ROWS),
      })),
    [rows],
  );
  const drawRows = useCallback((/** @type {Row[]} */ list) => html`<ul class=${`rows ${kind}`}>${list.map(draw)}</ul>`, [draw, kind]);
  return html`<${WindowedBlocks} blocks=${blocks} draw=${drawRows} rowHeight=${rowHeight} root=${root} />`;
}

/**
 * Tells what the reader does to the view, until the result is called.
 * @param {HTMLElement} view
 * @param {{ current: boolean }} wish
 * @param {(wish: boolean) => void} onFollow
 */
function watchReader(view, wish, onFollow) {
  let intentAt = Number.NEGATIVE_INFINITY;
  const change = (/** @type {boolean} */ next) => {
    if (wish.current !== next) onFollow(next);
  };
  /** A scroll event of an earlier jump may come after a key or the wheel that leads up; it must not undo them. */
  const intend = (/** @type {boolean} */ isUpward, mayReturn = !isUpward) => {
    intentAt = mayReturn ? performance.now() : Number.NEGATIVE_INFINITY;
    if (isUpward) change(false);
  };
  const controller = new AbortController();
  const { signal } = controller;
  view.addEventListener("wheel", ({ deltaY }) => intend(deltaY < 0), { passive: true, signal });
  view.addEventListener("touchmove", () => intend(true, true), { passive: true, signal });
  view.addEventListener("keydown", ({ key }) => scrollKeys.includes(key) && intend(upKeys.includes(key)), { signal });
  // The scroll bar belongs to the scroller itself; a row that is pressed or reached by Tab must not move away.
  view.addEventListener("pointerdown", ({ target }) => (target === view ? intend(true, true) : change(false)), { signal });
  view.addEventListener("focusin", ({ target }) => target !== view && change(false), { signal });
  view.addEventListener(
    "scroll",
    () => {
      const isOwn = performance.now() - intentAt < INTENT_MS;
      if (isOwn && view.scrollHeight - view.scrollTop - view.clientHeight <= NEAR_END_PX) change(true);
    },
    { passive: true, signal },
  );
  const grown = new ResizeObserver(() => wish.current && jumpToEnd(view));
  grown.observe(view);
  if (view.firstElementChild) grown.observe(view.firstElementChild);
  return () => {
    controller.abort();
    grown.disconnect();
  };
}

/** @param {HTMLElement | null} view */
function jumpToEnd(view) {
  if (view) view.scrollTop = view.scrollHeight;
}
