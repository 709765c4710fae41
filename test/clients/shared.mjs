// Address and questions that the calls of all libraries share.
import { z } from "zod";

export const baseURL = process.argv[2] ?? "";
export const apiKey = process.env.OPENAI_API_KEY ?? "";
/** Of the tool, and of a structured answer. */
export const query = z.object({ query: z.string() });
export const pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
export const texts = ["one", "two"];

/** Arguments of the calls that a library made of its own accord. */
const asked = [];
export const weather = (input) => {
  asked.push(input);
  return "sunny";
};
/** Gives the arguments since the last time. */
export const askedFor = () => asked.splice(0);

/** Joins what a stream brings. */
export async function joined(stream, textOf) {
  let text = "";
  for await (const part of stream) text += textOf(part) ?? "";
  return text;
}

/** The status of a call that is to be refused. */
export const statusOf = (refused) =>
  refused.then(
    () => "no refusal",
    (error) => error.status ?? error.statusCode ?? error.cause?.status ?? String(error),
  );
