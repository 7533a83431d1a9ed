import type { VerbEntry } from '../../entry.js'

/** `sallyport demo`. */
export const demoVerb: VerbEntry = { verb: 'demo', load: () => import('./demo.js') }
