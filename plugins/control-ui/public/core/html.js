import htm from "htm";
import { h } from "preact";

/** Tagged templates instead of JSX, so that nothing has to be compiled. Values are text or attributes, never markup. */
export const html = htm.bind(h);
