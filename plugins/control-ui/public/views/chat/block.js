import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { afterFrame } from "../../ui/frames.js";

/** Blocks begin to exist a while before they are drawn. */
const MARGIN_PX = { block: 350, chapter: 1_500 };
const ALL = Number.POSITIVE_INFINITY;

/**
 * A stretch of a long transcript: drawn by pieces while it is near the view, otherwise as empty space of the height it had.
 * @param {{ id: number, draw: (share: number) => any, pieces?: number, isKept: boolean, isPlace?: boolean, root: { current: HTMLElement | null }, estimate?: number | undefined, kind?: "block" | "chapter",
 *   heights: Map<string, number>, turn: string | undefined }} props `isKept`: something in it is still growing; `isPlace`: the view begins at it;
 *   `pieces`: frames in which it is drawn, a `share` from 0 to 1; `estimate`: height in px of one that is not drawn before it is near;
 *   `kind`: a chapter is made of blocks; `heights`: of those that were drawn before; `turn`: its first one, by which the reader's place is known before it is drawn
 */
export function Block({ id, draw, isKept, isPlace = false, root, estimate, kind = "block", heights, turn, pieces = 1 }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const name = `${kind} ${id}`;
  const height = useRef(heights.get(name) ?? estimate ?? 0);
  const [begun, begin] = useState(height.current === 0 || isPlace ? ALL : 0);
  const wanted = useRef(begun > 0);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (ref.current);
    const watcher = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        if (!entry.isIntersecting && height.current > 0) heights.set(name, height.current);
        // Nothing has a height while the view is hidden.
        wanted.current = entry.isIntersecting || height.current === 0;
        if (wanted.current) inAFrame(drawMore);
        else begin(0);
      },
      { root: root.current, rootMargin: `${MARGIN_PX[kind]}px 0px` },
    );
    watcher.observe(element);
    return () => {
      wanted.current = false;
      watcher.disconnect();
    };
  }, []);
  const drawMore = () => {
    if (!wanted.current) return;
    const next = drawn.current + 1;
    begin(next < most.current ? next : ALL);
    if (next < most.current) inAFrame(drawMore);
  };
  useEffect(() => {
    if (isKept) begin(ALL);
  }, [isKept]);
  const most = useRef(pieces);
  most.current = pieces;
  const drawn = useRef(begun);
  drawn.current = isKept ? pieces : Math.min(begun, pieces);
  const isDrawn = drawn.current > 0;
  const isWhole = drawn.current === pieces;
  // Before the paint: for one frame without a height everything below would jump.
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.minHeight = isWhole ? "" : `${height.current}px`;
  }, [isWhole]);
  return html`<div ref=${ref} class=${kind} data-turn=${isDrawn ? undefined : turn}>${isDrawn ? draw(pieces === 1 ? 1 : (drawn.current - 1) / (pieces - 1)) : null}</div>`;
}

/** @type {Array<() => void>} */
const due = [];
let isRequested = false;

/** Does one piece of work between two frames, the newest first: what is in the view now came last. @param {() => void} work */
function inAFrame(work) {
  due.push(work);
  requestFrame();
}

function doNext() {
  isRequested = false;
  due.pop()?.();
  if (due.length > 0) requestFrame();
}

function requestFrame() {
  if (!isRequested) afterFrame(doNext);
  isRequested = true;
}
