import type { NounEntry } from '../../entry.js'

/** `sallyport shots …`. */
export const shotsNoun: NounEntry = {
  noun: 'shots',
  summary: 'a folder of screenshots: scan, analysis, digests, reports',
  verbs: [
  ],
}
