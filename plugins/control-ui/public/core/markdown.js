import { Lexer } from "marked";

/**
 * Markdown as tokens, within bounds: a text may come from anybody, and some that are short take the reader minutes or all of its stack.
 *
 * @typedef {import("marked").Token & { tokens?: import("marked").Token[] }} Token
 */

/** A longer text is shown as it is. */
const MAX_CHARS = 100_000;
/** A paragraph that is longer is shown without emphasis and links: what stands in a line is read in more than linear time. */
const MAX_INLINE_CHARS = 3_000;
/** Quotes in quotes, lists in lists, emphasis in emphasis: what is deeper is shown as it is. */
const MAX_DEPTH = 16;

/** @param {string} text @returns {Token[]} */
export function readMarkdown(text) {
  if (text === "") return [];
  if (text.length > MAX_CHARS) return [{ type: "code", raw: text, text }];
  return new BoundedLexer({ gfm: true, breaks: true }).lex(text);
}

class BoundedLexer extends Lexer {
  blockDepth = 0;
  inlineDepth = 0;

  /**
   * @param {string} source
   * @param {any} [tokens]
   * @param {boolean} [isClipped]
   * @override
   * @returns {any}
   */
  blockTokens(source, tokens = [], isClipped = false) {
    if (this.blockDepth >= MAX_DEPTH) {
      tokens.push({ type: "text", raw: source, text: source });
      return tokens;
    }
    this.blockDepth += 1;
    try {
      return super.blockTokens(source, tokens, isClipped);
    } finally {
      this.blockDepth -= 1;
    }
  }

  /**
   * @param {string} source
   * @param {any[]} [tokens]
   * @override
   */
  inlineTokens(source, tokens = []) {
    if (this.inlineDepth >= MAX_DEPTH || source.length > MAX_INLINE_CHARS) {
      tokens.push({ type: "text", raw: source, text: source });
      return tokens;
    }
    this.inlineDepth += 1;
    try {
      return super.inlineTokens(source, tokens);
    } finally {
      this.inlineDepth -= 1;
    }
  }
}
