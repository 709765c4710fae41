import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const NEAR_END_PX = 24;
const NEAR_TOP_PX = 400;
/** A scroll event this soon after a wheel, touch, key or drag is the reader's own; flicks roll on for a while. */
const INTENT_MS = 1_500;

/**
 * Following the end is what the reader wants, not where the view happens to be: growing content never changes the wish. When not
 * following, the first visible turn keeps its place through anything that is put before it.
 *
 * @param {{ current: HTMLElement | null }} scroller
 * @param {import("../../core/chat.js").Chat} chat its `position` is kept when the view is left
 * @param {{ onNearTop: () => void, onEnd: () => void }} tell
 */
export function useFollowing(scroller, chat, tell) {
  const { position } = chat;
  const [isFollowing, show] = useState(position.isFollowing);
  const intentAt = useRef(Number.NEGATIVE_INFINITY);

  /** @param {boolean} wish */
  const setFollowing = (wish) => {
    if (position.isFollowing === wish) return;
    position.isFollowing = wish;
    show(wish);
    if (wish) tell.onEnd();
  };
  const toEnd = () => {
    setFollowing(true);
    jumpToEnd(scroller.current);
  };

  /** @param {string} turn its key; it comes to the top of the view, as soon as it is drawn */
  const toTurn = (turn) => {
    setFollowing(false);
    Object.assign(position, { turn, offset: 0 });
    if (scroller.current) restore(scroller.current, position);
  };

  // Before the browser tells of the size of another chat: it is at that one's place.
  useLayoutEffect(() => {
    const view = /** @type {HTMLElement} */ (scroller.current);
    return followReader(view, { position, intentAt, setFollowing, onNearTop: tell.onNearTop });
  }, [chat]);

  useLayoutEffect(() => {
    const view = scroller.current;
    if (!view) return;
    if (position.isFollowing) jumpToEnd(view);
    else restore(view, position);
  });

  useEffect(() => {
    const follow = () => toEnd();
    const view = scroller.current;
    view?.addEventListener("svc-sent", follow);
    return () => view?.removeEventListener("svc-sent", follow);
  }, [chat]);

  return { isFollowing, toEnd, toTurn };
}

/**
 * Follows what the reader does to the view and how its content grows, until the result is called.
 *
 * @param {HTMLElement} view
 * @param {{
 *   position: import("../../core/chat.js").Chat["position"],
 *   intentAt: { current: number },
 *   setFollowing: (wish: boolean) => void,
 *   onNearTop: () => void,
 * }} reader
 */
function followReader(view, { position, intentAt, setFollowing, onNearTop }) {
  const intend = () => (intentAt.current = performance.now());
  /** @param {WheelEvent} event */
  const wheel = (event) => {
    intend();
    if (event.deltaY < 0) setFollowing(false);
  };
  const touch = () => {
    intend();
    setFollowing(false);
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    intend();
    if (["ArrowUp", "PageUp", "Home"].includes(event.key)) setFollowing(false);
  };
  /** The scroll bar belongs to the scroller itself; opening a fold must not be followed by a jump. @param {PointerEvent} event */
  const press = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target !== view && !target.closest("summary")) return;
    intend();
    setFollowing(false);
  };
  const scrolled = () => {
    const isOwn = performance.now() - intentAt.current < INTENT_MS;
    if (isOwn && view.scrollHeight - view.scrollTop - view.clientHeight <= NEAR_END_PX) setFollowing(true);
    if (!position.isFollowing) remember(view, position);
    if (isOwn && view.scrollTop < NEAR_TOP_PX) onNearTop();
  };
  const grown = new ResizeObserver(() => (position.isFollowing ? jumpToEnd(view) : restore(view, position)));
  const { signal, abort } = withSignal();
  view.addEventListener("wheel", wheel, { passive: true, signal });
  view.addEventListener("touchmove", touch, { passive: true, signal });
  view.addEventListener("keydown", key, { signal });
  view.addEventListener("pointerdown", press, { signal });
  view.addEventListener("scroll", scrolled, { passive: true, signal });
  if (view.firstElementChild) grown.observe(view.firstElementChild);
  grown.observe(view);
  return () => {
    abort();
    grown.disconnect();
  };
}

/** Sending means wanting to see the answer. */
export function followSent() {
  document.querySelector(".transcript")?.dispatchEvent(new Event("svc-sent"));
}

function withSignal() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** @param {HTMLElement | null} view */
function jumpToEnd(view) {
  if (view) view.scrollTop = view.scrollHeight;
}

/** @param {HTMLElement} view @param {import("../../core/chat.js").Chat["position"]} position */
function remember(view, position) {
  const top = view.getBoundingClientRect().top;
  for (const turn of view.querySelectorAll("[data-turn]")) {
    const box = turn.getBoundingClientRect();
    if (box.bottom <= top) continue;
    position.turn = turn.getAttribute("data-turn") ?? "";
    position.offset = box.top - top;
    return;
  }
}

/** @param {HTMLElement} view @param {import("../../core/chat.js").Chat["position"]} position */
function restore(view, position) {
  if (position.turn === "") return;
  const turn = view.querySelector(`[data-turn="${CSS.escape(position.turn)}"]`);
  if (!turn) return;
  const shift = turn.getBoundingClientRect().top - view.getBoundingClientRect().top - position.offset;
  if (Math.abs(shift) >= 1) view.scrollTop += shift;
}
