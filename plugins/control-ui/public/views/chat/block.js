import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";

const MARGIN = "1500px 0px";

/**
 * A stretch of a long transcript: drawn while it is near the view, otherwise as empty space of the height it had.
 * @param {{ children?: any, isKept: boolean, root: { current: HTMLElement | null } }} props `isKept`: something in it is still growing
 */
export function Block({ children, isKept, root }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const height = useRef(0);
  const [isNear, setNear] = useState(true);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (ref.current);
    const watcher = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting) height.current = entry.boundingClientRect.height;
        // Nothing has a height while the view is hidden.
        setNear(entry.isIntersecting || height.current === 0);
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
  return html`<div ref=${ref} class="block">${isDrawn ? children : null}</div>`;
}
