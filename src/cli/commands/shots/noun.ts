import type { NounEntry } from '../../entry.js'

/** `sallyport shots …`. */
export const shotsNoun: NounEntry = {
  noun: 'shots',
  summary: 'a folder of screenshots: scan, analysis, digests, reports',
  verbs: [
    { verb: 'config', load: () => import('./config.js') },
    { verb: 'scan', load: () => import('./scan.js') },
    { verb: 'watch', load: () => import('./watch.js') },
    { verb: 'run', load: () => import('./run.js') },
    { verb: 'analyze', load: () => import('./analyze.js') },
    { verb: 'reanalyze', load: () => import('./reanalyze.js') },
    { verb: 'list', load: () => import('./list.js') },
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'explain', load: () => import('./explain.js') },
    { verb: 'clear-stale', load: () => import('./clear-stale.js') },
    { verb: 'status', load: () => import('./status.js') },
    { verb: 'digest', load: () => import('./digest.js') },
    { verb: 'digests', load: () => import('./digests.js') },
    { verb: 'report', load: () => import('./report.js') },
  ],
}
