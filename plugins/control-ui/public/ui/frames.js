/**
 * Work between two frames: a frame then has nothing to do but to lay out and paint, and what it laid out can be asked for at no cost.
 *
 * @param {() => void} work done once, in a task of its own, after the next frame was drawn
 * @returns {() => void} calls the work off
 */
export function afterFrame(work) {
  let timer = 0;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(work);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
