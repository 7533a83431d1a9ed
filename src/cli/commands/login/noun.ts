import type { VerbEntry } from '../table.js'

/** `sallyport login`. */
export const loginVerb: VerbEntry = { verb: 'login', load: () => import('./login.js') }
