import type { VerbEntry } from '../../entry.js'

/** `sallyport logout`. */
export const logoutVerb: VerbEntry = { verb: 'logout', load: () => import('./logout.js') }
