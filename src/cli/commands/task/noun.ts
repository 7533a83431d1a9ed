import type { NounEntry } from '../../entry.js'

/** `sallyport task …`. */
export const taskNoun: NounEntry = {
  noun: 'task',
  summary: 'the work board: your tasks, their review, cancel and recovery',
  verbs: [
    { verb: 'list', load: () => import('./list.js') },
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'review', load: () => import('./review.js') },
    { verb: 'cancel', load: () => import('./cancel.js') },
    { verb: 'recover', load: () => import('./recover.js') },
  ],
}
