/** One page for the thread that reads it. */
export interface PageJob {
  html: string;
  /** Where it came from; links of the page are made whole with it. */
  url: string;
}

/** Its article as Markdown, or why there is none, in words that are none of the page. */
export type PageAnswer = { title: string; text: string } | { failure: string };
