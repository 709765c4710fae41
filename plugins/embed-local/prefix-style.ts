/** Prefixes by which a model learns what a text is for. The name is part of the index identity: another style gives other vectors. */
export interface PrefixStyle {
  name: string;
  query: string;
  document: string;
}

const plain: PrefixStyle = { name: "none", query: "", document: "" };

/** The prompts of the model card of EmbeddingGemma ("Prompt instructions"). */
const gemma: PrefixStyle = { name: "embeddinggemma", query: "task: search result | query: ", document: "title: none | text: " };

/** Style of a model by its name or file name. Pure. */
export function prefixStyleOf(model: string): PrefixStyle {
  return /embedding-?gemma/i.test(model) ? gemma : plain;
}
