import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { request } from "../../core/conn.js";
import { base } from "../../core/env.js";
import { html } from "../../core/html.js";
import { theme } from "../../core/look.js";
import { openBridge } from "../../core/panel-bridge.js";
import { frameAddress } from "../../core/panel-facts.js";
import { texts } from "../../texts/panels.js";
import { Button } from "../../ui/button.js";
import { Notice, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/panel-facts.js").Panel} Panel */
/** @typedef {import("../../core/panel-facts.js").Subject} Subject */

const START_MS = 10_000;

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(darkSystem.matches);
darkSystem.addEventListener("change", ({ matches }) => {
  isSystemDark.value = matches;
});

const troubles = { silent: texts.silent, left: texts.left, flooded: texts.flooded };

/** A page of a plugin in a frame of its own origin, and a way to start it again when it broke. @param {{ panel: Panel, subject: Subject }} props */
export default function Frame({ panel, subject }) {
  const [turn, setTurn] = useState(0);
  const [trouble, setTrouble] = useState(/** @type {keyof typeof troubles | undefined} */ (undefined));
  const restart = () => {
    setTrouble(undefined);
    setTurn(turn + 1);
  };
  if (trouble)
    return html`<${Notice} level="warn"><p>${troubles[trouble]}</p><div class="actions"><${Button} kind="slim" onClick=${restart}>${texts.again}<//></div><//>`;
  return html`<${Running} key=${turn} panel=${panel} subject=${subject} onTrouble=${setTrouble} />`;
}

/** @param {{ panel: Panel, subject: Subject, onTrouble: (trouble: keyof typeof troubles) => void }} props */
function Running({ panel, subject, onTrouble }) {
  const ref = useRef(/** @type {HTMLIFrameElement | null} */ (null));
  const [isReady, setReady] = useState(false);
  const loads = useRef(0);
  const shown = shownTheme();
  // At once after the frame was put into the page: whatever it says comes later.
  useLayoutEffect(() => {
    /** @type {ReturnType<typeof openBridge> | undefined} */
    let bridge;
    /** @param {MessageEvent} event */
    const heard = ({ source, data }) => {
      const frame = ref.current?.contentWindow;
      if (!frame || source !== frame || data !== "ready" || bridge) return;
      const { methods = [] } = panel;
      /** @param {string} method @param {Record<string, unknown>} params @param {AbortSignal} signal */
      const call = (method, params, signal) => request(method, params, { signal });
      bridge = openBridge({ methods, call, onFlood: () => onTrouble("flooded") });
      // Its origin is no address, so none can be named; the policy of the page keeps the frame on this gateway.
      frame.postMessage({ type: "port", subject, theme: shownTheme() }, "*", [bridge.port]);
      setReady(true);
    };
    addEventListener("message", heard);
    return () => {
      removeEventListener("message", heard);
      bridge?.close();
    };
  }, []);
  useEffect(() => {
    if (isReady) return;
    const timer = setTimeout(() => onTrouble("silent"), START_MS);
    return () => clearTimeout(timer);
  }, [isReady]);
  useEffect(() => {
    if (isReady) ref.current?.contentWindow?.postMessage({ type: "theme", theme: shown }, "*");
  }, [shown]);
  // A second document in the frame is not the one that said it was ready.
  const loaded = () => {
    loads.current += 1;
    if (loads.current > 1) onTrouble("left");
  };
  return html`<div class=${`panel-frame ${panel.surface}`}>
    ${!isReady && html`<${Waiting} rows=${3} label=${texts.starting} />`}
    <iframe ref=${ref} title=${panel.label} sandbox="allow-scripts" allow="" referrerpolicy="no-referrer" src=${frameAddress(base, panel)}
      onLoad=${loaded}></iframe>
  </div>`;
}

/** Theme in force, for the frame to follow. @returns {"light" | "dark"} */
function shownTheme() {
  if (theme.value !== "system") return theme.value;
  return isSystemDark.value ? "dark" : "light";
}
