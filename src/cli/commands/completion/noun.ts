import type { VerbEntry } from '../../entry.js'

/** `sallyport completion SHELL`. */
export const completionVerb: VerbEntry = {
  verb: 'completion',
  load: () => import('./completion.js'),
}
