/** The answer of a model that does not think: as many calls of `note`, one a turn, as the newest message of a user wants by `calls:<n>`. */
export async function* scriptedAnswer({ messages }) {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[asked].content.map((part) => part.text ?? "").join(" ");
  const wanted = Number(/calls:(\d+)/.exec(text)?.[1] ?? 0);
  const n = (messages.length - asked - 1) / 2;
  if (n < wanted) {
    yield { type: "toolCall", id: `call-${n}`, name: "note", argsDelta: `{"n":${n}}` };
    yield { type: "toolCallEnd", id: `call-${n}` };
    yield { type: "finish", reason: "tool_calls" };
    return;
  }
  yield { type: "text", delta: `done after ${wanted}` };
  yield { type: "finish", reason: "stop" };
}

/** The least that model and tool do between them: answer, tool, answer. @param store called with each call and each result */
export async function bareCalls(calls, store) {
  const messages = [{ role: "user", content: [{ type: "text", text: `calls:${calls}` }] }];
  for (;;) {
    const { text, call } = await readAnswer(scriptedAnswer({ messages }));
    if (!call) {
      await store({ role: "assistant", text });
      return text;
    }
    const message = { role: "assistant", content: [{ type: "toolCall", id: call.id, name: "note", args: JSON.parse(call.json) }] };
    await store(message);
    const result = { role: "tool", toolCallId: call.id, name: "note", text: `noted ${JSON.parse(call.json).n}` };
    await store(result);
    messages.push(message, result);
  }
}

async function readAnswer(stream) {
  let text = "";
  let call;
  for await (const delta of stream) {
    if (delta.type === "text") text += delta.delta;
    else if (delta.type === "toolCall") call = { id: delta.id, json: delta.argsDelta };
  }
  return { text, call };
}
