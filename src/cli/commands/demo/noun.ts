import type { VerbEntry } from '../table.js'

/** `sallyport demo`. */
export const demoVerb: VerbEntry = { verb: 'demo', load: () => import('./demo.js') }
