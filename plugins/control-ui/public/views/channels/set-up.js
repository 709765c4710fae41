import { useEffect, useState } from "preact/hooks";
import { configSchema, setUpChannel } from "../../core/channel-setup.js";
import { channelsToSetUp, fieldsOf, problemsOf, sectionOf, snippetOf } from "../../core/channel-setup-facts.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { Button, Command, CopyButton } from "../../ui/button.js";
import { useLive } from "../../ui/live.js";
import { Standing } from "../../ui/reading.js";
import { Notice } from "../../ui/states.js";
import { FieldInput } from "./field.js";

/** @typedef {import("../../core/channel-setup-facts.js").Field} Field */

/** Channels that are not in the config: what each takes, as a form and as lines of the config file. @param {{ present: readonly string[] }} props */
export default function SetUp({ present }) {
  // Large, and another one only after plugins have changed: once for each visit.
  useEffect(() => void configSchema.read(), []);
  useLive(() => configSchema.answer.peek() ?? configSchema.read());
  const [chosen, setChosen] = useState("");
  const found = configSchema.answer.value;
  const ids = found ? channelsToSetUp(found.schema, present) : [];
  const channel = ids.includes(chosen) ? chosen : "";
  return html`<section class="panel" aria-labelledby="set-up">
    <header><h2 id="set-up">${texts.setOneUp}</h2></header>
    <div class="inside stack">
      <p>${texts.channelLetsPeople}</p>
      <${Standing} reading=${configSchema} onRetry=${configSchema.read} what=${texts.channelsCouldSet} rows=${1} />
      ${
        ids.length > 0 &&
        html`<div class="choice" role="group" aria-label=${texts.channelSetUp}>${ids.map(
          (id) =>
            html`<button key=${id} type="button" aria-pressed=${id === channel} onClick=${() => setChosen(id === channel ? "" : id)}>${id}</button>`,
        )}</div>`
      }
      ${found && channel !== "" && html`<${Form} key=${channel} channel=${channel} fields=${fieldsOf(found.schema, found.uiHints, channel)} />`}
      <p class="muted small">${texts.someChannelsNeed}</p>
      <${Command} command=${`svc channels add ${channel || "irc"}`} />
    </div>
  </section>`;
}

/** @param {{ channel: string, fields: Field[] }} props */
function Form({ channel, fields }) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [problems, setProblems] = useState(/** @type {Record<string, string>} */ ({}));
  const [state, setState] = useState(/** @type {{ busy?: boolean, failed?: string, done?: string }} */ ({}));
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (state.busy || noAdminReason.value) return;
    const wrong = problemsOf(fields, values);
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    setState({ busy: true });
    try {
      const waiting = await setUpChannel(channel, sectionOf(fields, values));
      // Secrets were sent; nothing of them stays here.
      setValues({});
      setState({
        done: waiting.length > 0 ? texts.configTakesEffect : texts.configAccountListed,
      });
    } catch (error) {
      setState({ failed: /** @type {Error} */ (error).message });
    }
  };
  const input = (
    /** @type {Field} */ field,
  ) => html`<${FieldInput} key=${field.name} field=${field} channel=${channel} value=${values[field.name] ?? ""} problem=${problems[field.name]}
    onChange=${(/** @type {string} */ value) => setValues({ ...values, [field.name]: value })} />`;
  const more = fields.filter(({ isMore }) => isMore);
  const snippet = snippetOf(channel, fields);
  return html`<form class="stack set-up" aria-label=${texts.setUp(channel)} onSubmit=${submit}>
    ${fields.filter(({ isMore }) => !isMore).map(input)}
    ${more.length > 0 && html`<details class="folded"><summary>${texts.moreFields(more.length)}</summary><div class="stack">${more.map(input)}</div></details>`}
    ${state.failed !== undefined && html`<p class="reason bad wrap" role="alert">${texts.nothingSetUp(state.failed)}</p>`}
    <div role="status">${state.done !== undefined && html`<${Notice}>${state.done}<//>`}</div>
    <div class="actions"><${Button} type="submit" kind="primary" blocked=${noAdminReason.value}>${state.busy ? texts.writing : texts.setUp(channel)}<//></div>
    <details class="folded"><summary>${texts.handConfigFile}</summary>
      <div class="stack"><pre class="call" tabindex="0" aria-label=${texts.linesConfigFile}><code>${snippet}</code></pre>
        <div><${CopyButton} text=${snippet} label=${texts.copyLines} /></div></div></details>
  </form>`;
}
