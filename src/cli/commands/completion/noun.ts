import type { VerbEntry } from '../table.js'

/** `sallyport completion SHELL`. */
export const completionVerb: VerbEntry = {
  verb: 'completion',
  load: () => import('./completion.js'),
}
