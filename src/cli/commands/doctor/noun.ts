import type { VerbEntry } from '../table.js'

/** `sallyport doctor`. */
export const doctorVerb: VerbEntry = { verb: 'doctor', load: () => import('./doctor.js') }
