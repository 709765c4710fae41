import { useEffect, useRef } from "preact/hooks";

/**
 * Gives the focus back to the button by which something was opened, once that is closed and the focus went with it.
 * @param {boolean} isOpen @param {string} id of the button
 */
export function useRefocus(isOpen, id) {
  const wasOpen = useRef(false);
  useEffect(() => {
    if (!isOpen && wasOpen.current && (document.activeElement ?? document.body) === document.body) document.getElementById(id)?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
}
