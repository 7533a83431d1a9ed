import type { VerbEntry } from '../table.js'

/** `sallyport logout`. */
export const logoutVerb: VerbEntry = { verb: 'logout', load: () => import('./logout.js') }
