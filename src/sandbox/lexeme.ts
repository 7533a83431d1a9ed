import { randomUUID } from 'node:crypto'

/** A number (or anything else) that must appear in the JSON text exactly as written here. */
export class Lexeme {
  constructor(readonly text: string) {}
}

/**
 * JSON text of a value in which each `Lexeme` stands as its own text. `JSON.stringify` cannot
 * write `1.0` or `1e3`, and those are what a strict reader has to be shown.
 */
export const renderJson = (value: unknown): string => {
  const mark = `lexeme-${randomUUID()}-`
  const texts: string[] = []
  const marked = JSON.stringify(value, (_key, part: unknown) => {
    if (!(part instanceof Lexeme)) return part
    texts.push(part.text)
    return `${mark}${texts.length - 1}`
  })
  return texts.reduce((text, lexeme, at) => text.replace(`"${mark}${at}"`, () => lexeme), marked)
}
