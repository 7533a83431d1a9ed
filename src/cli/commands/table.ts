/**
 * Every command. Only the module of the verb that was named is loaded; help, completions and man
 * pages load all of them.
 */
import type { CommandTable } from '../entry.js'

/** Nouns and verbs in the order in which help lists them. */
export const commands: CommandTable = [
  { verb: 'init', load: () => import('./init/init.js') },
  { verb: 'login', load: () => import('./login/login.js') },
  { verb: 'logout', load: () => import('./logout/logout.js') },
  {
    noun: 'session',
    summary: 'who is logged in, and ending sessions',
    verbs: [
      { verb: 'show', load: () => import('./session/show.js') },
      { verb: 'list', load: () => import('./session/list.js') },
      { verb: 'revoke', load: () => import('./session/revoke.js') },
    ],
  },
  {
    noun: 'principal',
    summary: 'owners: who may log in',
    verbs: [
      { verb: 'add', load: () => import('./principal/add.js') },
      { verb: 'list', load: () => import('./principal/list.js') },
      { verb: 'disable', load: () => import('./principal/disable.js') },
      { verb: 'enable', load: () => import('./principal/enable.js') },
    ],
  },
  {
    noun: 'goal',
    summary: 'what your tasks are for',
    verbs: [
      { verb: 'add', load: () => import('./goal/add.js') },
      { verb: 'list', load: () => import('./goal/list.js') },
      { verb: 'show', load: () => import('./goal/show.js') },
      { verb: 'update', load: () => import('./goal/update.js') },
      { verb: 'close', load: () => import('./goal/close.js') },
    ],
  },
  {
    noun: 'alpha',
    summary: 'one question to one fixed text provider, one answer, one receipt',
    verbs: [
      { verb: 'setup', load: () => import('./alpha/setup.js') },
      { verb: 'acknowledge', load: () => import('./alpha/acknowledge.js') },
      { verb: 'show', load: () => import('./alpha/show.js') },
      { verb: 'ask', load: () => import('./alpha/ask.js') },
      { verb: 'output', load: () => import('./alpha/output.js') },
      { verb: 'tasks', load: () => import('./alpha/tasks.js') },
      { verb: 'task', load: () => import('./alpha/task.js') },
      { verb: 'review', load: () => import('./alpha/review.js') },
      { verb: 'cancel', load: () => import('./alpha/cancel.js') },
    ],
  },
  {
    noun: 'gateway',
    summary: 'the general model route: three slots, consents per purpose, capability proofs',
    verbs: [
      { verb: 'setup', load: () => import('./gateway/setup.js') },
      { verb: 'show', load: () => import('./gateway/show.js') },
      { verb: 'prove', load: () => import('./gateway/prove.js') },
    ],
  },
  {
    noun: 'shots',
    summary: 'a folder of screenshots: scan, analysis, digests, reports',
    verbs: [
      { verb: 'config', load: () => import('./shots/config.js') },
      { verb: 'scan', load: () => import('./shots/scan.js') },
      { verb: 'watch', load: () => import('./shots/watch.js') },
      { verb: 'run', load: () => import('./shots/run.js') },
      { verb: 'analyze', load: () => import('./shots/analyze.js') },
      { verb: 'reanalyze', load: () => import('./shots/reanalyze.js') },
      { verb: 'list', load: () => import('./shots/list.js') },
      { verb: 'show', load: () => import('./shots/show.js') },
      { verb: 'explain', load: () => import('./shots/explain.js') },
      { verb: 'clear-stale', load: () => import('./shots/clear-stale.js') },
      { verb: 'status', load: () => import('./shots/status.js') },
      { verb: 'digest', load: () => import('./shots/digest.js') },
      { verb: 'digests', load: () => import('./shots/digests.js') },
      { verb: 'report', load: () => import('./shots/report.js') },
    ],
  },
  {
    noun: 'codehost',
    summary: 'connections to a code host, and finite consent to what is written through them',
    verbs: [
      { verb: 'connect', load: () => import('./codehost/connect.js') },
      { verb: 'connections', load: () => import('./codehost/connections.js') },
      { verb: 'mode', load: () => import('./codehost/mode.js') },
      { verb: 'consent', load: () => import('./codehost/consent.js') },
      { verb: 'grants', load: () => import('./codehost/grants.js') },
      { verb: 'revoke', load: () => import('./codehost/revoke.js') },
      { verb: 'prepare', load: () => import('./codehost/prepare.js') },
      { verb: 'preview', load: () => import('./codehost/preview.js') },
      { verb: 'approve', load: () => import('./codehost/approve.js') },
      { verb: 'run', load: () => import('./codehost/run.js') },
      { verb: 'resume', load: () => import('./codehost/resume.js') },
      { verb: 'jobs', load: () => import('./codehost/jobs.js') },
      { verb: 'job', load: () => import('./codehost/job.js') },
      { verb: 'cancel', load: () => import('./codehost/cancel.js') },
      { verb: 'reconcile', load: () => import('./codehost/reconcile.js') },
      { verb: 'adopt', load: () => import('./codehost/adopt.js') },
    ],
  },
  {
    noun: 'config',
    summary: 'the whole model configuration: the text capability and the gateway',
    verbs: [
      { verb: 'show', load: () => import('./config/show.js') },
      { verb: 'save', load: () => import('./config/save.js') },
    ],
  },
  {
    noun: 'task',
    summary: 'the work board: your tasks, their review, cancel and recovery',
    verbs: [
      { verb: 'list', load: () => import('./task/list.js') },
      { verb: 'show', load: () => import('./task/show.js') },
      { verb: 'review', load: () => import('./task/review.js') },
      { verb: 'cancel', load: () => import('./task/cancel.js') },
      { verb: 'recover', load: () => import('./task/recover.js') },
      { verb: 'close', load: () => import('./task/close.js') },
    ],
  },
  {
    noun: 'policy',
    summary: 'the one policy of every route: show it, revoke it, its history',
    verbs: [
      { verb: 'show', load: () => import('./policy/show.js') },
      { verb: 'revoke', load: () => import('./policy/revoke.js') },
      { verb: 'history', load: () => import('./policy/history.js') },
    ],
  },
  {
    noun: 'ledger',
    summary: 'the one ledger: ceiling, holds, unknown charges, overruns',
    verbs: [
      { verb: 'show', load: () => import('./ledger/show.js') },
      { verb: 'reservations', load: () => import('./ledger/reservations.js') },
      { verb: 'review', load: () => import('./ledger/review.js') },
      { verb: 'settle', load: () => import('./ledger/settle.js') },
    ],
  },
  {
    noun: 'audit',
    summary: 'the audit: who did what, in a chain that shows what was altered',
    verbs: [
      { verb: 'list', load: () => import('./audit/list.js') },
      { verb: 'show', load: () => import('./audit/show.js') },
    ],
  },
  { verb: 'status', load: () => import('./status/status.js') },
  {
    noun: 'state',
    summary: 'look after the state directory',
    verbs: [
      { verb: 'path', load: () => import('./state/path.js') },
      { verb: 'check', load: () => import('./state/check.js') },
      { verb: 'repair', load: () => import('./state/repair.js') },
      { verb: 'backup', load: () => import('./state/backup.js') },
      { verb: 'restore', load: () => import('./state/restore.js') },
      { verb: 'compact', load: () => import('./state/compact.js') },
      { verb: 'kept', load: () => import('./state/kept.js') },
      { verb: 'prune', load: () => import('./state/prune.js') },
    ],
  },
  {
    noun: 'sandbox',
    summary: 'an embedded outside world on loopback, with faults, for trying things out',
    verbs: [
      { verb: 'start', load: () => import('./sandbox/start.js') },
      { verb: 'status', load: () => import('./sandbox/status.js') },
      { verb: 'fault', load: () => import('./sandbox/fault.js') },
      { verb: 'faults', load: () => import('./sandbox/faults.js') },
      { verb: 'samples', load: () => import('./sandbox/samples.js') },
    ],
  },
  { verb: 'demo', load: () => import('./demo/demo.js') },
  { verb: 'doctor', load: () => import('./doctor/doctor.js') },
  { verb: 'schema', load: () => import('./schema/schema.js') },
  { verb: 'completion', load: () => import('./completion/completion.js') },
  { verb: 'help', load: () => import('./help/help.js') },
]
