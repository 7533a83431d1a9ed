import type { NounEntry } from '../../entry.js'

/** `sallyport alpha …`. */
export const alphaNoun: NounEntry = {
  noun: 'alpha',
  summary: 'one question to one fixed text provider, one answer, one receipt',
  verbs: [
    { verb: 'setup', load: () => import('./setup.js') },
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'ask', load: () => import('./ask.js') },
    { verb: 'output', load: () => import('./output.js') },
    { verb: 'tasks', load: () => import('./tasks.js') },
    { verb: 'task', load: () => import('./task.js') },
    { verb: 'review', load: () => import('./review.js') },
    { verb: 'cancel', load: () => import('./cancel.js') },
  ],
}
