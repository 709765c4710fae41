import type { Fetch } from "./library.ts";
import { publicFetch } from "./public-fetch.ts";

/** Largest message of a server: the JSON of one answer, or one event of a stream. */
export const MAX_MESSAGE_BYTES = 4_194_304;

interface ServerFetchOptions {
  /** Address of the config. */
  url: string;
  headers: Readonly<Record<string, string>>;
  fetch: Fetch;
  /** For addresses on other hosts, which the server names for a login. */
  elsewhere?: Fetch;
}

/**
 * `fetch` for the connection to one server. The headers of the config go to the origin of the config and nowhere else; no redirect is followed here; the size of
 * what is read into memory at once has a limit. Other hosts, as those of a login, have to be in the public network.
 */
export function serverFetch({ url, headers, fetch, elsewhere = publicFetch }: ServerFetchOptions): Fetch {
  const own = new URL(url);
  return async (input, init = {}) => {
    const target = new URL(input);
    if (target.hostname !== own.hostname) return limited(await elsewhere(target, init));
    const sent = new Headers(init.headers);
    if (target.origin === own.origin) for (const [name, value] of Object.entries(headers)) if (!sent.has(name)) sent.set(name, value);
    return limited(await fetch(target, { ...init, headers: sent, redirect: "manual" }));
  };
}

/** The same answer, whose body fails where it is larger than a message may be. */
function limited(response: Response): Response {
  if (!response.body) return response;
  const isStream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
  const body = response.body.pipeThrough(isStream ? eventLimit() : sizeLimit());
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

const tooLarge = () => new Error(`the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);

function sizeLimit(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, out) {
      bytes += chunk.length;
      if (bytes > MAX_MESSAGE_BYTES) return out.error(tooLarge());
      out.enqueue(chunk);
    },
  });
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts the bytes since the last blank line, which ends an event. */
function eventLimit(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineEmpty = false;
  return new TransformStream({
    transform(chunk, out) {
      // One look at each byte: a blank line is a line feed after another one, with or without a carriage return between them.
      for (const byte of chunk) {
        bytes++;
        if (byte === LINE_FEED) {
          if (isLineEmpty) bytes = 0;
          isLineEmpty = true;
        } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
      }
      if (bytes > MAX_MESSAGE_BYTES) return out.error(tooLarge());
      out.enqueue(chunk);
    },
  });
}
