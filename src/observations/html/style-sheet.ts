/**
 * A style sheet as it is sent: without its comments and empty lines. A line that begins with blanks
 * goes on with the one before it.
 */
export const styleSheet = (text: string): string =>
  text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/\n +/g, ' ').replaceAll(/\n{2,}/g, '\n').trim()
