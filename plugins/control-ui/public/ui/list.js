import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../core/html.js";

/** Few enough to be drawn between two frames, on a slow machine too. */
const BLOCK_ROWS = 20;
const PAGE_BLOCK_ROWS = 4;
const MARGIN = "500px 0px";
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
  useLayoutEffect(() => {
    if (wish.current) jumpToEnd(scroller.current);
  });
  const blocks = blocksOf(rows);
  return html`<div ref=${scroller} class=${`long-list ${kind}`} tabindex="0" role="region" aria-label=${label}>
    <div>
      ${children}
      ${blocks.map(
        ({ id, list }, i) =>
          html`<${Block} key=${id} root=${scroller} height=${list.length * rowHeight} isLast=${i >= blocks.length - 2} draw=${() => list.map(draw)} />`,
      )}
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
 * List of a page, in its order: what is far from the view is empty space.
 *
 * @template Row
 * @param {{ rows: Row[], draw: (row: Row) => any, rowHeight: number, kind?: string }} props `rowHeight`: of a row that was not drawn yet, px
 */
export function PageList({ rows, draw, rowHeight, kind = "" }) {
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  root.current ??= document.getElementById("main");
  const starts = Array.from({ length: Math.ceil(rows.length / PAGE_BLOCK_ROWS) }, (_, i) => i * PAGE_BLOCK_ROWS);
  return starts.map((from) => {
    const list = rows.slice(from, from + PAGE_BLOCK_ROWS);
    const content = () => html`<ul class=${`rows ${kind}`}>${list.map(draw)}</ul>`;
    return html`<${Block} key=${from} root=${root} height=${list.length * rowHeight} isLast=${from < 6 * PAGE_BLOCK_ROWS} draw=${content} />`;
  });
}

/**
 * Rows while they are near the view, otherwise empty space of the height they had.
 * @param {{ draw: () => any, height: number, isLast: boolean, root: { current: HTMLElement | null } }} props `isLast`: drawn wherever the view is
 */
function Block({ draw, height, isLast, root }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const estimate = useRef(height);
  estimate.current = height;
  /** Height that it had when it was drawn, as long as it holds as many rows. */
  const drawn = useRef({ estimate: 0, px: 0 });
  const [isNear, setNear] = useState(false);
  const wanted = useRef(false);
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        // A row with the focus stays.
        if (!entry || (!entry.isIntersecting && ref.current?.contains(document.activeElement))) return;
        if (!entry.isIntersecting) drawn.current = { estimate: estimate.current, px: entry.boundingClientRect.height };
        wanted.current = entry.isIntersecting;
        if (entry.isIntersecting) inAFrame(() => setNear(wanted.current));
        else setNear(false);
      },
      { root: root.current, rootMargin: MARGIN },
    );
    watcher.observe(/** @type {HTMLElement} */ (ref.current));
    return () => watcher.disconnect();
  }, []);
  const isDrawn = isNear || isLast;
  // Before the paint: for one frame without a height everything below would jump.
  useLayoutEffect(() => {
    const px = drawn.current.estimate === height && drawn.current.px > 0 ? drawn.current.px : height;
    if (ref.current) ref.current.style.height = isDrawn ? "" : `${px}px`;
  }, [isDrawn, height]);
  return html`<div ref=${ref} class="block">${isDrawn ? draw() : null}</div>`;
}

/** @type {Array<() => void>} */
const due = [];

/** Does one piece of work a frame, the newest first: what is in the view now came last. @param {() => void} work */
export function inAFrame(work) {
  due.push(work);
  if (due.length === 1) requestAnimationFrame(doNext);
}

function doNext() {
  due.pop()?.();
  if (due.length > 0) requestAnimationFrame(doNext);
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
