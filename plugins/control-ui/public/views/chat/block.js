import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { inAFrame } from "../../ui/list.js";

const MARGIN = "1000px 0px";

/**
 * A stretch of a long transcript: drawn while it is near the view, otherwise as empty space of the height it had.
 * @param {{ draw: () => any, isKept: boolean, root: { current: HTMLElement | null }, estimate?: number | undefined }} props `isKept`: something in it is still growing;
 *   `estimate`: height in px of one that is not drawn before it is near
 */
export function Block({ draw, isKept, root, estimate }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const height = useRef(estimate ?? 0);
  const [isNear, setNear] = useState(estimate === undefined);
  const wanted = useRef(isNear);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (ref.current);
    const watcher = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        // Nothing has a height while the view is hidden.
        wanted.current = entry.isIntersecting || height.current === 0;
        if (wanted.current) inAFrame(() => setNear(wanted.current));
        else setNear(false);
      },
      { root: root.current, rootMargin: MARGIN },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const isDrawn = isNear || isKept;
  // Before the paint: for one frame without a height everything below would jump.
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.height = isDrawn ? "" : `${height.current}px`;
  }, [isDrawn]);
  return html`<div ref=${ref} class="block">${isDrawn ? draw() : null}</div>`;
}
