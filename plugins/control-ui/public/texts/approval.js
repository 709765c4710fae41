/** Texts of requests for approval. */
export const texts = {
  answerWay: "The answer is on its way",
  /** @param {string} warning */
  warning: (warning) => `Warning: ${warning}`,
  /** @param {string} error */
  notAnswered: (error) => `Not answered: ${error}`,
  allowOnce: "Allow once",
  alwaysAllow: "Always allow",
  deny: "Deny",
};
