import type { VerbEntry } from '../../entry.js'

/** `sallyport doctor`. */
export const doctorVerb: VerbEntry = { verb: 'doctor', load: () => import('./doctor.js') }
