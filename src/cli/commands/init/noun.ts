import type { VerbEntry } from '../../entry.js'

/** `sallyport init`. */
export const initVerb: VerbEntry = { verb: 'init', load: () => import('./init.js') }
