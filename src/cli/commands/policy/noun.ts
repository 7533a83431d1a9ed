import type { NounEntry } from '../../entry.js'

/** `sallyport policy …`. */
export const policyNoun: NounEntry = {
  noun: 'policy',
  summary: 'the one policy of every route: show it, revoke it, its history',
  verbs: [
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'revoke', load: () => import('./revoke.js') },
    { verb: 'history', load: () => import('./history.js') },
  ],
}
