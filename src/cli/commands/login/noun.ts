import type { VerbEntry } from '../../entry.js'

/** `sallyport login`. */
export const loginVerb: VerbEntry = { verb: 'login', load: () => import('./login.js') }
