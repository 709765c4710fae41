// Search of the documentation: every word has to stand in a section, words of headings count more.

/**
 * @param {[url: string, title: string, heading: string, text: string][]} pages
 * @param {string} query
 * @returns {{ url: string, title: string, heading: string, text: string }[]} best first, thirty at most
 */
globalThis.svcSearch = (pages, query) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  if (words.length === 0) return [];
  const found = [];
  for (const [url, title, heading, text] of pages) {
    const [inTitle, inHeading, inText] = [title, heading, text].map((part) => part.toLowerCase());
    let score = 0;
    for (const word of words) {
      const points = (inTitle.includes(word) ? 4 : 0) + (inHeading.includes(word) ? 6 : 0) + (inText.includes(word) ? 1 : 0);
      score = points === 0 ? Number.NEGATIVE_INFINITY : score + points;
    }
    if (score > 0) found.push({ url, title, heading, text, score });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, 30);
};

if (globalThis.document) {
  const { root } = document.currentScript.dataset;
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  const article = document.querySelector("article");

  /** The words around the first one that was found. */
  const around = (text, query) => {
    const at = Math.max(0, text.toLowerCase().indexOf(query.toLowerCase().trim().split(/\s+/)[0] ?? "") - 60);
    return `${at > 0 ? "…" : ""}${text.slice(at, at + 200)}${text.length > at + 200 ? "…" : ""}`;
  };
  const show = () => {
    const query = input.value;
    results.replaceChildren(
      ...globalThis.svcSearch(globalThis.svcPages, query).map(({ url, title, heading, text }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = root + url;
        link.textContent = heading === title ? title : `${title} › ${heading}`;
        const words = document.createElement("p");
        words.textContent = around(text, query);
        item.append(link, words);
        return item;
      }),
    );
    const isAsked = query.trim() !== "";
    if (isAsked && results.childElementCount === 0) results.append("Nothing has all of these words.");
    results.hidden = !isAsked;
    article.hidden = isAsked;
  };
  input.addEventListener("input", show);
  results.addEventListener("click", () => {
    input.value = "";
    show();
  });
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    results.querySelector("a")?.click();
  });
}
