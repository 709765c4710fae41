import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../core/html.js";
import { afterFrame } from "./frames.js";

/**
 * The part of a long list that exists in the document: blocks of rows near the view, with empty space of their height for all others. Between two frames one
 * block more comes at most, so that they stay short however far the reader jumps; heights are told by the browser after its layout and never asked for.
 *
 * @typedef {{ from: number, to: number }} Range indices of blocks, the last not included
 * @typedef {{ id: number, list: any[] }} RowBlock
 */

/** Drawn beyond both ends of the view, px, and blocks in any case: rows that the reader opened are tall. */
const MARGIN_PX = 350;
const MARGIN_BLOCKS = 4;
/** Drawn above a view whose end is followed, px. */
const SPARE_PX = 56;
/** Height of a view that was not measured yet, px. */
const VIEW_PX = 900;
/** Heights of blocks that are remembered. */
const MOST_SIZES = 2_000;

/** Blocks of which a part lies between two heights. Pure. @param {readonly number[]} heights @param {number} top @param {number} bottom @returns {Range} */
export function rangeBetween(heights, top, bottom) {
  let from = 0;
  let at = 0;
  while (from < heights.length && at + (heights[from] ?? 0) <= top) at += heights[from++] ?? 0;
  let to = from;
  while (to < heights.length && at < bottom) at += heights[to++] ?? 0;
  return { from, to };
}

/** Blocks that should be drawn while a view lies between two heights. Pure. @param {readonly number[]} heights @param {number} top @param {number} bottom @returns {Range} */
export function rangeAround(heights, top, bottom) {
  const seen = rangeBetween(heights, top, bottom);
  const near = rangeBetween(heights, top - MARGIN_PX, bottom + MARGIN_PX);
  return {
    from: Math.max(0, Math.min(near.from, seen.from - MARGIN_BLOCKS)),
    to: Math.min(heights.length, Math.max(near.to, seen.to + MARGIN_BLOCKS)),
  };
}

/**
 * One step from what is drawn to what should be: what is far goes, and one block comes, of those that are seen first. Pure.
 * @param {Range} drawn @param {Range} wanted @param {Range} seen within `wanted` @returns {Range}
 */
export function stepTowards(drawn, wanted, seen) {
  const from = Math.max(drawn.from, wanted.from);
  const to = Math.min(drawn.to, wanted.to);
  if (from >= to) return { from: seen.from, to: Math.min(seen.from + 1, wanted.to) };
  if (to < seen.to) return { from, to: to + 1 };
  if (from > seen.from) return { from: from - 1, to };
  if (to < wanted.to) return { from, to: to + 1 };
  return { from: Math.max(wanted.from, from - 1), to };
}

/**
 * @param {{ blocks: RowBlock[], draw: (rows: any[]) => any, rowHeight: number, root: { current: HTMLElement | null }, isAtEnd?: boolean }} props
 *   `draw`: the same function as long as it draws the same; `rowHeight`: of a row that was not drawn yet, px; `isAtEnd`: the end is in view
 */
export function WindowedBlocks({ blocks, draw, rowHeight, root, isAtEnd = false }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const sizes = useSizes(root);
  const slotsOf = useSlots();
  const elementOf = useSameElements();
  const drawn = useRef(/** @type {Range} */ ({ from: 0, to: 1 }));
  const [, redraw] = useState(0);
  const heights = useMemo(() => sizes.heightsOf(blocks, rowHeight), [blocks, rowHeight]);
  const atEnd = () => ({ from: startOfLast(heights, sizes.view()), to: blocks.length });
  if (isAtEnd) drawn.current = atEnd();
  const look = useLooking(() => {
    const next = isAtEnd ? atEnd() : nextRange(drawn.current, heights, list.current, root.current);
    if (next.from === drawn.current.from && next.to === drawn.current.to) return;
    drawn.current = next;
    redraw((n) => n + 1);
  }, root);
  // Not an effect after the paint, each of which takes a frame and a timer.
  useLayoutEffect(look);
  sizes.onChange(look);
  const { from, to } = drawn.current;
  const shown = indicesOf(from, Math.min(to, blocks.length), heldBlock(blocks, list.current));
  const slots = slotsOf(shown.map((at) => blocks[at]?.id ?? 0));
  let next = 0;
  const pieces = shown.map((at) => {
    const { id, list: rows } = /** @type {RowBlock} */ (blocks[at]);
    const gap = sum(heights, next, at);
    next = at + 1;
    const place = at === 0 ? "first" : next === blocks.length ? "last" : "";
    const block = elementOf({ slot: slots.get(id), at, id, rows, draw, sizes, place });
    return gap > 0 ? [html`<${Space} px=${gap} />`, block] : block;
  });
  elementOf.dropOthers(slots);
  return html`<div ref=${list}>${pieces.flat()}<${Space} key="end" px=${sum(heights, next, heights.length)} /></div>`;
}

/**
 * A function that answers with the same element as long as a block is the same: it is not compared with the one before then, nor drawn.
 * @typedef {{ slot: number | undefined, id: number, at: number, rows: any[], draw: (rows: any[]) => any, sizes: ReturnType<typeof useSizes>, place: string }} BlockProps
 */
function useSameElements() {
  return useMemo(() => {
    /** @type {Map<number, { props: BlockProps, element: any }>} */
    const known = new Map();
    /** @param {BlockProps} props */
    const elementOf = (props) => {
      const { slot, at, id, rows, draw, sizes, place } = props;
      const same = known.get(id);
      if (same && areSame(Object.values(same.props), Object.values(props))) return same.element;
      const element = html`<${Block} key=${slot} at=${at} id=${id} rows=${rows} draw=${draw} sizes=${sizes} place=${place} />`;
      known.set(id, { props, element });
      return element;
    };
    /** @param {ReadonlyMap<number, unknown>} shown */
    const dropOthers = (shown) => {
      for (const id of known.keys()) if (!shown.has(id)) known.delete(id);
    };
    return Object.assign(elementOf, { dropOthers });
  }, []);
}

/** @param {{ px: number }} props */
function Space({ px }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  // Before the paint: for one frame without a height everything below would jump.
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.height = `${px}px`;
  }, [px]);
  return html`<div ref=${ref}></div>`;
}

/** @param {{ id: number, at: number, rows: any[], draw: (rows: any[]) => any, sizes: ReturnType<typeof useSizes>, place: string }} props */
function Block({ id, at, rows, draw, sizes, place }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => sizes.watch(/** @type {HTMLElement} */ (ref.current), { id, at, rows: rows.length }), [id, at, rows.length]);
  const same = useRef(rows);
  if (!areSame(same.current, rows)) same.current = rows;
  // An element that is the same as before is not compared with it.
  const content = useMemo(() => draw(same.current), [same.current, draw]);
  return html`<div ref=${ref} class=${`block ${place}`} data-block=${id}>${content}</div>`;
}

/** @param {readonly unknown[]} a @param {readonly unknown[]} b */
function areSame(a, b) {
  return a.length === b.length && a.every((row, i) => row === b[i]);
}

/** Range that should be drawn after this frame. @param {Range} drawn @param {number[]} heights @param {HTMLElement | null} list @param {HTMLElement | null} view */
function nextRange(drawn, heights, list, view) {
  if (!list || !view) return drawn;
  const top = view.getBoundingClientRect().top - list.getBoundingClientRect().top;
  const bottom = top + view.clientHeight;
  return stepTowards(drawn, rangeAround(heights, top, bottom), rangeBetween(heights, top, bottom));
}

/**
 * A function that looks once after the next frame, when the layout is what is shown and asking for it costs nothing. Each scroll calls it.
 * @param {() => void} look @param {{ current: HTMLElement | null }} root
 */
function useLooking(look, root) {
  const latest = useRef(look);
  latest.current = look;
  const cancel = useRef(/** @type {(() => void) | undefined} */ (undefined));
  const request = useMemo(
    () => () => {
      cancel.current ??= afterFrame(() => {
        cancel.current = undefined;
        latest.current();
      });
    },
    [],
  );
  useEffect(() => {
    const view = root.current;
    view?.addEventListener("scroll", request, { passive: true });
    return () => {
      view?.removeEventListener("scroll", request);
      cancel.current?.();
      // A look that is called off is not pending any more.
      cancel.current = undefined;
    };
  }, []);
  return request;
}

/** @param {{ current: HTMLElement | null }} root */
function useSizes(root) {
  const sizes = useMemo(createSizes, []);
  useEffect(() => {
    if (root.current) sizes.observer.observe(root.current);
    return () => sizes.observer.disconnect();
  }, []);
  return sizes;
}

/** Heights as the browser tells them: of the view, and of blocks while they are drawn. */
function createSizes() {
  /** @type {Map<number, { rows: number, px: number }>} */
  const known = new Map();
  /** @type {WeakMap<Element, { id: number, at: number, rows: number }>} */
  const watched = new WeakMap();
  /** Of all blocks, in their order. @type {number[]} */
  let heights = [];
  let view = VIEW_PX;
  /** @type {(() => void) | undefined} */
  let tell;
  const observer = new ResizeObserver((entries) => {
    for (const { target, borderBoxSize } of entries) {
      const px = borderBoxSize[0]?.blockSize ?? 0;
      const block = watched.get(target);
      if (!block) view = px;
      if (!block || px === 0) continue;
      known.set(block.id, { rows: block.rows, px });
      heights[block.at] = px;
    }
    dropOldest(known);
    tell?.();
  });
  return {
    observer,
    view: () => view,
    /** @param {() => void} listener */
    onChange(listener) {
      tell = listener;
    },
    /** @param {RowBlock[]} blocks @param {number} rowHeight */
    heightsOf(blocks, rowHeight) {
      heights = blocks.map(({ id, list }) => {
        const measured = known.get(id);
        return measured?.rows === list.length ? measured.px : list.length * rowHeight;
      });
      return heights;
    },
    /** @param {HTMLElement} element @param {{ id: number, at: number, rows: number }} block */
    watch(element, block) {
      watched.set(element, block);
      observer.observe(element);
      return () => observer.unobserve(element);
    },
  };
}

/** @param {Map<number, unknown>} known */
function dropOldest(known) {
  for (const id of known.keys()) {
    if (known.size <= MOST_SIZES) return;
    known.delete(id);
  }
}

/** Numbers for the elements of blocks: a block that comes takes the element of one that goes, whose rows are then changed instead of replaced. */
function useSlots() {
  const taken = useRef(/** @type {Map<number, number>} */ (new Map()));
  /** @param {number[]} ids */
  return (ids) => {
    const before = taken.current;
    const wanted = new Set(ids);
    const free = [...before].flatMap(([id, slot]) => (wanted.has(id) ? [] : [slot])).sort((a, b) => a - b);
    let fresh = Math.max(-1, ...before.values()) + 1;
    taken.current = new Map(ids.map((id) => [id, before.get(id) ?? free.shift() ?? fresh++]));
    return taken.current;
  };
}

/** Index of the block with the focus, -1 without one: it stays wherever the view is. @param {RowBlock[]} blocks @param {HTMLElement | null} list */
function heldBlock(blocks, list) {
  const focused = document.activeElement;
  if (!list || !focused || !list.contains(focused)) return -1;
  const held = Number(/** @type {HTMLElement | null} */ (focused.closest("[data-block]"))?.dataset.block);
  return blocks.findIndex(({ id }) => id === held);
}

/** @param {number} from @param {number} to @param {number} held */
function indicesOf(from, to, held) {
  const range = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  if (held < 0 || (held >= from && held < to)) return range;
  return held < from ? [held, ...range] : [...range, held];
}

/** Index of the first block of those that fill a view from its end. @param {number[]} heights @param {number} px */
function startOfLast(heights, px) {
  let rest = px + SPARE_PX;
  let from = heights.length;
  while (from > 0 && rest > 0) rest -= heights[--from] ?? 0;
  return from;
}

/** @param {number[]} list @param {number} from @param {number} to */
function sum(list, from, to) {
  let total = 0;
  for (let i = from; i < to; i++) total += list[i] ?? 0;
  return total;
}
