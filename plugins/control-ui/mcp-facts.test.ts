import { expect, test } from "vitest";

const facts = await import(new URL("./public/core/mcp-facts.js", import.meta.url).href);
const { answerIn, clientLines, freshDraft, lossWords, patchOf, placeOf, problemsOf, safeAddress, sentenceOf, stateOf, wordsOf } = facts;

const server = (change: object = {}) => ({ name: "files", transport: "stdio", state: "ready", tools: ["mcp_files_read"], ...change });

test("each state is a word and a colour, one that nobody knows is its own word", () => {
  const words = ["connecting", "ready", "waiting", "login", "closed", "misconfigured", "molten"].map((state) => stateOf(server({ state })));
  expect(words.map(({ word, level }) => `${word}: ${level}`)).toEqual([
    "connecting: busy",
    "connected: ok",
    "tries again: warn",
    "needs a login: warn",
    "closed: ",
    "misconfigured: bad",
    "molten: ",
  ]);
});

test("servers are counted in a sentence", () => {
  expect(sentenceOf([])).toBe("Agents have no tools of other servers.");
  expect(sentenceOf([server(), server({ state: "login", tools: [] })])).toBe("1 of 2 servers connected, 1 tool for agents.");
});

test("a command line and its words are each other's way back", () => {
  const rows: Array<[string, string[]]> = [
    ["npx -y server /srv/papers", ["npx", "-y", "server", "/srv/papers"]],
    ['node "a b.js" "say \\"x\\""', ["node", "a b.js", 'say "x"']],
  ];
  for (const [line, [command, ...args]] of rows) {
    expect(wordsOf(line)).toEqual([command, ...args]);
    expect(placeOf({ command, args })).toBe(line);
  }
  expect(wordsOf("node 'a b.js'")).toEqual(["node", "a b.js"]);
  expect(placeOf({ url: "https://x.example/mcp" })).toBe("https://x.example/mcp");
  expect(placeOf(undefined)).toBe("");
});

test("a draft becomes the entry of the config, and says what is missing", () => {
  const draft = { ...freshDraft(), name: "files", line: "npx server" };
  expect(patchOf(draft)).toEqual({ mcp: { servers: { files: { command: "npx", args: ["server"] } } } });
  const address = { ...draft, kind: "http", url: " https://x.example/mcp ", approval: "always" };
  expect(patchOf(address)).toEqual({ mcp: { servers: { files: { url: "https://x.example/mcp", approval: "always" } } } });
  expect([problemsOf(draft, []), problemsOf(address, ["other"])]).toEqual([{}, {}]);
  expect(Object.keys(problemsOf(freshDraft(), []))).toEqual(["name", "line"]);
  expect(problemsOf(draft, ["files"]).name).toMatch(/There is a server/);
  for (const url of ["", "ftp://x", "https://user@x.example", "https://x y"])
    expect(problemsOf({ ...address, url }, []).url, url).toBeTruthy();
});

test("the answer of a login is found in an address or in its query, and in nothing else", () => {
  const query = "code=abc&state=1";
  for (const text of [`http://127.0.0.1:47647/callback?${query}`, ` ?${query} `, query]) expect(answerIn(text), text).toBe(query);
  expect(answerIn("http://127.0.0.1/callback?error=access_denied")).toBe("error=access_denied");
  for (const text of ["", "http://127.0.0.1:1/callback", "hello"]) expect(answerIn(text), text).toBeUndefined();
});

test("removing names what goes", () => {
  expect(lossWords(server({ loggedIn: true }))).toBe(
    "Agents lose 1 tool at once. Its settings and secrets go from the config. Its login is kept until you log out.",
  );
  expect(lossWords(server({ tools: [] }))).toMatch(/^Agents have none of its tools now/);
});

test("clients get the address of this gateway, and a login leads to the web only", () => {
  expect(clientLines("https://gw.example", "/mcp").address).toBe("https://gw.example/mcp");
  expect(["https://a.example", "javascript:x()", "file:///etc/passwd"].map(safeAddress)).toEqual([
    "https://a.example",
    undefined,
    undefined,
  ]);
});
