import { useEffect, useMemo, useState } from "preact/hooks";
import { html } from "../core/html.js";
import { texts } from "../texts/parts.js";
import { Waiting } from "./states.js";

/** @typedef {typeof import("../core/qr.js").qrOf} Draw */

/**
 * A QR code, drawn in this page: what it says is told to nobody. The library comes with the first one.
 * @param {{ text: string, label: string }} props
 */
export function QrCode({ text, label }) {
  const [draw, setDraw] = useState(/** @type {{ qrOf: Draw } | undefined} */ (undefined));
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    import("../core/qr.js").then(
      ({ qrOf }) => setDraw({ qrOf }),
      () => setMissing(true),
    );
  }, []);
  const code = useMemo(() => draw?.qrOf(text), [draw, text]);
  if (isMissing) return html`<p role="alert">${texts.codeCouldNot}</p>`;
  if (!draw) return html`<${Waiting} rows=${2} label=${texts.drawingCode} />`;
  if (!code) return html`<p role="alert">${texts.textTooLong}</p>`;
  const { size, path } = code;
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect width=${size} height=${size} /><path d=${path} />
  </svg>`;
}
