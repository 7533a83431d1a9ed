import type { NounEntry } from '../../entry.js'

/** `sallyport session …`. */
export const sessionNoun: NounEntry = {
  noun: 'session',
  summary: 'who is logged in, and ending sessions',
  verbs: [
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'list', load: () => import('./list.js') },
    { verb: 'revoke', load: () => import('./revoke.js') },
  ],
}
