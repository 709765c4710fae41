# Calls of the OpenAI API by the official library for Python, with its defaults. `python calls.py <base URL>`, with the key in OPENAI_API_KEY, prints one line of
# JSON per call: {client, call, result} or {client, call, error}.
import json
import sys
import traceback

import openai
from pydantic import BaseModel

client = openai.OpenAI(base_url=sys.argv[1])
stranger = openai.OpenAI(base_url=sys.argv[1], api_key="wrong")
pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


class Thing(BaseModel):
    query: str


parameters = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], "additionalProperties": False}
chat_tool = {"type": "function", "function": {"name": "weather", "parameters": parameters, "strict": True}}
responses_tool = {"type": "function", "name": "weather", "parameters": parameters, "strict": True}


def messages(content):
    return [{"role": "user", "content": content}]


def models():
    return [model.id for model in client.models.list()]


def chat():
    return client.chat.completions.create(model="svc", messages=messages("hi")).choices[0].message.content


def chat_streamed():
    stream = client.chat.completions.create(model="svc", messages=messages("hi"), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def chat_tools():
    asked = messages("Bern?")
    said = client.chat.completions.create(model="svc/caller", messages=asked, tools=[chat_tool]).choices[0].message
    return answered_chat(asked, said)


def chat_tools_streamed():
    asked = messages("Bern?")
    with client.chat.completions.stream(model="svc/caller", messages=asked, tools=[chat_tool]) as stream:
        said = stream.get_final_completion().choices[0].message
    return answered_chat(asked, said)


def answered_chat(asked, said):
    [call] = said.tool_calls
    calls = [{"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}]
    turn = {"role": "assistant", "content": said.content, "tool_calls": calls}
    result = {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
    last = client.chat.completions.create(model="svc/caller", messages=[*asked, turn, result], tools=[chat_tool])
    return [last.choices[0].message.content, [json.loads(call.function.arguments)]]


def chat_structured():
    parsed = client.chat.completions.parse(model="svc/writer", messages=messages("hi"), response_format=Thing)
    return parsed.choices[0].message.parsed.model_dump()


def chat_picture():
    content = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": pixel}}]
    return client.chat.completions.create(model="svc", messages=messages(content)).choices[0].message.content


def status_of(call):
    try:
        call()
    except openai.APIStatusError as error:
        return error.status_code
    return "no refusal"


def chat_wrong_key():
    return status_of(lambda: stranger.chat.completions.create(model="svc", messages=messages("hi")))


def responses():
    return client.responses.create(model="svc", input="hi").output_text


def responses_streamed():
    with client.responses.stream(model="svc", input="hi") as stream:
        return stream.get_final_response().output_text


def responses_tools():
    return answered_response(client.responses.create(model="svc/caller", input="Bern?", tools=[responses_tool]))


def responses_tools_streamed():
    with client.responses.stream(model="svc/caller", input="Bern?", tools=[responses_tool]) as stream:
        return answered_response(stream.get_final_response())


def answered_response(first):
    [call] = [item for item in first.output if item.type == "function_call"]
    output = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
    last = client.responses.create(model="svc/caller", input=output, previous_response_id=first.id, tools=[responses_tool])
    return [last.output_text, [json.loads(call.arguments)]]


def responses_structured():
    return client.responses.parse(model="svc/writer", input="hi", text_format=Thing).output_parsed.model_dump()


def responses_next_turn_by_id():
    first = client.responses.create(model="svc", input="one")
    return client.responses.create(model="svc", input="two", previous_response_id=first.id).output_text


def responses_wrong_key():
    return status_of(lambda: stranger.responses.create(model="svc", input="hi"))


def embeddings():
    return [len(row.embedding) for row in client.embeddings.create(model="svc", input=["one", "two"]).data]


calls = {
    "models": models,
    "chat": chat,
    "chat, streamed": chat_streamed,
    "chat, tools": chat_tools,
    "chat, tools, streamed": chat_tools_streamed,
    "chat, structured": chat_structured,
    "chat, picture": chat_picture,
    "chat, wrong key": chat_wrong_key,
    "responses": responses,
    "responses, streamed": responses_streamed,
    "responses, tools": responses_tools,
    "responses, tools, streamed": responses_tools_streamed,
    "responses, structured": responses_structured,
    "responses, next turn by id": responses_next_turn_by_id,
    "responses, wrong key": responses_wrong_key,
    "embeddings": embeddings,
}

for name, call in calls.items():
    line = {"client": "openai for Python", "call": name}
    try:
        line["result"] = call()
    except Exception:
        line["error"] = traceback.format_exc()[-2000:]
    print(json.dumps(line, ensure_ascii=False), flush=True)
