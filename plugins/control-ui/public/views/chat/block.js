import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";

/** Blocks begin to exist a while before they are drawn. */
const MARGIN_PX = { block: 500, chapter: 1_500 };

/**
 * A stretch of a long transcript: drawn while it is near the view, otherwise as empty space of the height it had.
 * @param {{ id: number, draw: () => any, isKept: boolean, root: { current: HTMLElement | null }, estimate?: number | undefined, kind?: "block" | "chapter",
 *   heights: Map<string, number>, turn: string | undefined }} props `isKept`: something in it is still growing; `estimate`: height in px of one that is not drawn before it is near;
 *   `kind`: a chapter is made of blocks; `heights`: of those that were drawn before; `turn`: its first one, by which the reader's place is known before it is drawn
 */
export function Block({ id, draw, isKept, root, estimate, kind = "block", heights, turn }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const name = `${kind} ${id}`;
  const height = useRef(heights.get(name) ?? estimate ?? 0);
  const [isNear, setNear] = useState(height.current === 0);
  const wanted = useRef(isNear);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (ref.current);
    const watcher = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        if (!entry.isIntersecting && height.current > 0) heights.set(name, height.current);
        // Nothing has a height while the view is hidden.
        wanted.current = entry.isIntersecting || height.current === 0;
        if (wanted.current) inAFrame(() => setNear(wanted.current));
        else setNear(false);
      },
      { root: root.current, rootMargin: `${MARGIN_PX[kind]}px 0px` },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const isDrawn = isNear || isKept;
  // Before the paint: for one frame without a height everything below would jump.
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.height = isDrawn ? "" : `${height.current}px`;
  }, [isDrawn]);
  return html`<div ref=${ref} class=${kind} data-turn=${isDrawn ? undefined : turn}>${isDrawn ? draw() : null}</div>`;
}

/** @type {Array<() => void>} */
const due = [];

/** Does one piece of work a frame, the newest first: what is in the view now came last. @param {() => void} work */
function inAFrame(work) {
  due.push(work);
  if (due.length === 1) requestAnimationFrame(doNext);
}

function doNext() {
  due.pop()?.();
  if (due.length > 0) requestAnimationFrame(doNext);
}
