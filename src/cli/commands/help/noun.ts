import type { VerbEntry } from '../table.js'

/** `sallyport help [TOPIC]`. */
export const helpVerb: VerbEntry = { verb: 'help', load: () => import('./help.js') }
