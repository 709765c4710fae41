import { expect, test } from "vitest";
import { readModels } from "./model-list.ts";

const no = { supported: false };

test.each([
  [{ id: "claude-opus-4-6" }, { reasoning: true, input: ["text", "image", "pdf"] }],
  [
    { id: "claude-3-5-haiku-20241022", capabilities: null },
    { reasoning: false, input: ["text", "image", "pdf"] },
  ],
  [{ id: "claude-2.1" }, { reasoning: false, input: ["text"] }],
  [
    { id: "claude-next", capabilities: { image_input: no, thinking: no } },
    { reasoning: false, input: ["text", "pdf"] },
  ],
  [{ id: "glm-9" }, {}],
  [{ id: "glm-9", capabilities: { image_input: { supported: true } } }, { input: ["text", "image"] }],
])("%j: what the entry does not tell about a Claude, its name does", (entry, facts) => {
  expect(readModels({ data: [entry] })).toEqual([{ id: entry.id, ...facts }]);
});
