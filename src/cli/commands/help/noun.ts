import type { VerbEntry } from '../../entry.js'

/** `sallyport help [TOPIC]`. */
export const helpVerb: VerbEntry = { verb: 'help', load: () => import('./help.js') }
