import { useEffect, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Button } from "../../ui/button.js";
import { Search } from "../../ui/icons.js";

/** Form of a search, started by Enter or the button: each search by meaning costs a call of the provider. @param {{ query: string, onSearch: (text: string) => void }} props */
export function SearchForm({ query, onSearch }) {
  const [text, setText] = useState(query);
  // An address that was opened or gone back to.
  useEffect(() => setText(query), [query]);
  const blocked = isOnline.value ? undefined : texts.notConnectedGateway;
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (!blocked) onSearch(text.trim());
  };
  /** The cross in the field empties it: then the files are back. @param {any} event */
  const change = (event) => {
    setText(event.currentTarget.value);
    if (event.currentTarget.value === "" && query !== "") onSearch("");
  };
  return html`<form class="tools" role="search" onSubmit=${submit}>
    <div class="search grow"><${Search} /><input type="search" class="field" placeholder=${texts.wordQuestion} aria-label=${texts.searchMemory}
      autocomplete="off" maxlength="4096" value=${text} onInput=${change} /></div>
    <${Button} type="submit" kind="primary" blocked=${blocked}>${texts.search}<//>
  </form>`;
}
