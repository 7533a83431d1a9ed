/** Parts of a style sheet. */

/** A rule of a style sheet; each declaration, or several of them, as one text. */
export const rule = (selector: string, ...declarations: readonly string[]): string =>
  `${selector} { ${declarations.join('; ')} }`

/** Rules for one kind of window. */
export const media = (query: string, rules: readonly string[]): string =>
  `@media ${query} {\n${rules.join('\n')}\n}`
