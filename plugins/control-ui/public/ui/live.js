import { useEffect } from "preact/hooks";
import { onEvent, onOnline } from "../core/conn.js";

/** Events come in bursts, such as those of a reload; one question answers all of them. */
const SOON_MS = 250;

/**
 * Reads while the view is seen: at once, with each new connection and after lost events, when the tab is looked at again, soon after some events, and
 * at intervals where no event tells of a change.
 * @param {() => unknown} read
 * @param {{ events?: readonly string[], everyMs?: number | undefined }} [when]
 * @param {readonly unknown[]} [inputs] with others it reads anew
 */
export function useLive(read, { events = [], everyMs } = {}, inputs = []) {
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let pending;
    const look = () => void (document.visibilityState === "visible" && read());
    const soon = () => {
      pending ??= setTimeout(() => {
        pending = undefined;
        look();
      }, SOON_MS);
    };
    const ends = [onOnline(look), ...events.map((event) => onEvent(event, soon))];
    const interval = everyMs === undefined ? undefined : setInterval(look, everyMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      for (const end of ends) end();
      clearTimeout(pending);
      clearInterval(interval);
      document.removeEventListener("visibilitychange", look);
    };
  }, inputs);
}
