/**
 * A number whose text is not a plain safe integer: `1.0`, `1e3`, `-0`, `0.5`, 2^53, `1e999`.
 * It is an object, so a schema for integers or numbers rejects it; `finiteNumber` of schema.ts is
 * the one that takes it.
 */
export class NumberLexeme {
  /** The text as it stood in the document. Input: never for an error text. */
  readonly lexeme: string
  /** What a double makes of it; may be infinite, rounded or negative zero. */
  readonly value: number

  constructor(lexeme: string) {
    this.lexeme = lexeme
    this.value = Number(lexeme)
  }

  /** A re-written document shows the number, not this wrapper. */
  toJSON(): number {
    return this.value
  }
}
