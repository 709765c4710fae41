import { html } from "../../core/html.js";
import { takenIn } from "../../core/model-facts.js";
import { catalog, known } from "../../core/models.js";
import { needsModel } from "../../core/parts.js";
import { texts } from "../../texts/models.js";
import { announce } from "../../ui/announce.js";
import { Dialog } from "../../ui/dialog.js";
import { AddForm } from "./form.js";

/** @param {{ status: import("../../core/model-facts.js").ModelStatus, onClose: () => void }} props */
export default function AddDialog({ status, onClose }) {
  /** @param {import("./form.js").Added} added */
  const done = ({ ref, isDefault }) => {
    announce(texts.answeredText({ ref, more: isDefault ? texts.answersDefaultNow : "" }));
    void Promise.all([known.read(), catalog.read()]);
    onClose();
  };
  return html`<${Dialog} label=${texts.addProvider} onClose=${onClose}><div><h2>${texts.addProvider}</h2>
    <${AddForm} taken=${takenIn(status)} isFirst=${needsModel(status)} onDone=${done} onClose=${onClose} /></div><//>`;
}
