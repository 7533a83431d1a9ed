/** `sallyport state verify DIR`: whether a backup could be restored; reads only. */
import { resolve } from 'node:path'
import { stateVerify, type StateVerifyDocument } from '../../../fabric/state-contract.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { siteOf } from './site.js'

const verifyText = (report: StateVerifyDocument, view: View): string => {
  const lines = report.problems.map(({ code, severity, message, subject }) => {
    const where = subject === undefined ? '' : ` (${view.foreign(subject)})`
    return `${severity}  ${code}: ${message}${where}\n`
  })
  const { loss } = report
  const facts = fieldLines([
    ['store', report.store_id],
    ['made', report.created_at],
    ['up to record', String(report.sequence)],
    ['files', `${report.files}, ${bytesText(report.bytes)}`],
    ['documents', String(report.documents)],
    ['artifacts', String(report.artifacts)],
    ['lacks', loss === null ? 'nothing'
      : `${loss.damage.join(', ')}; ${loss.artifacts.length} artifacts`],
  ])
  return `${lines.join('')}${facts}${report.ok ? 'The backup can be restored.\n' : ''}`
}

/** Verifies. Throws `rejected` where there is no backup, `damaged` where it is not whole. */
export const verify = verb(stateVerify, {
  summary: 'read a backup whole and say whether it could be restored',
  description:
    'Compares every file of a backup with its length and hash, and reads the state in it as ' +
    '`state check` does: chains, documents, artifacts, ledger, audit, policy. It opens what is ' +
    'sealed with the key of the key folder. It writes nothing and needs no state of its own, so ' +
    'it may run on the machine that holds the backups, beside a copy of the keys.',
  examples: [
    '$ sallyport state verify /mnt/backup/sallyport-monday',
    "$ sallyport state verify /mnt/backup/sallyport-monday --json | jq '.problems'",
  ],
  session: 'none',
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'blocked', 'damaged'],
  flags: (command) => command.argument('<dir>', 'a folder that `state backup` made'),
  text: verifyText,
  run: async ({ dir }, deps) => {
    const { verifyWhole } = await import('../../../fabric/state-care.js')
    return verifyWhole(siteOf(deps), resolve(deps.cwd, dir))
  },
})
