/**
 * The last net under the rule that no text holds a secret: what was read as a secret in this run,
 * and whatever has the form of one, is cut out of a stack before it is shown.
 */
import { authorization, ownToken, prefixedKey, privateKey } from '../base/key-shapes.js'

/** Secrets of this run, as text. */
export interface Secrets {
  add(secret: string): void
  /** `text` without any of them. */
  cut(text: string): string
}

const replacement = '[cut]'
/** Shorter ones would cut words out of ordinary text. */
const secretCharsMin = 6

const keyShapes = [prefixedKey, authorization, privateKey, ownToken]

/** An empty collection. */
export const secretsOfRun = (): Secrets => {
  const known = new Set<string>()
  return {
    add(secret) {
      if (secret.length >= secretCharsMin) known.add(secret)
    },
    cut(text) {
      let cut = text
      for (const secret of known) cut = cut.replaceAll(secret, replacement)
      return keyShapes.reduce((rest, shape) => rest.replace(shape, replacement), cut)
    },
  }
}
