/** Copies of a state: making one, proving it, putting it in place, and what was kept aside. */
import { existsSync } from 'node:fs'
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import {
  stateKept, stateBackup, stateVerify, stateRestore, type Kept, type StateVerifyDocument,
  type StateRestoreDocument,
} from '../../../fabric/state-contract.js'
import { isStateAt } from '../../../state/paths.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { siteOf } from './site.js'
import { settleCommand } from '../../../governance/ledger/due.js'

/** What was carried over from states that were put aside, in words; empty when nothing was. */
export const keptText = (
  {
    kept_liabilities: kept, unread_operations: unread, unreadable_states: lost,
    kept_artifacts: artifacts, owners_to_enable: owners,
  }: Kept,
  view: View,
): string => [
  kept === 0
    ? '' : `${countText(kept, 'later charge is', 'later charges are')} kept as unknown: `
      + `${view.command('ledger reservations')}\n`,
  lost === 0 ? '' : `${countText(lost, 'former state')} could not be read at all.\n`,
  artifacts === 0
    ? '' : `${countText(artifacts, 'artifact')} without a record kept aside: `
      + `${view.command('state prune --show')}\n`,
  ...owners.map((name) =>
    `${name} cannot log in until somebody says so: `
      + `${view.command(`principal enable ${name}`)}\n`),
  ...unread.map((operation) =>
    'The whole ceiling is held. When you have seen the bill, settle what it has beside other '
    + `charges: ${view.told(settleCommand(operation))}\n`),
  // What a restore holds by itself stands for no record that is lost.
  unread.every((operation) => operation.startsWith('op_unread-restored-'))
    ? '' : 'Idempotency keys that may have been used there count as spent: '
      + `${view.command('state keys')}\n`,
].join('')

/** Lists, or removes one. Throws `not_found` `artifact_not_kept`. */
export const kept = verb(stateKept, {
  summary: 'artifacts kept aside by a repair or a restore, and removing them',
  description:
    'A restore, or a repair that could not replay every record, may leave stored artifacts that ' +
    'no record names. Answers that were paid for may be among them. They lie sealed in ' +
    'aside/kept, no compaction removes them, and no backup holds them. This lists them by name; ' +
    'with --remove one of them is removed for good.',
  examples: [
    '$ sallyport state prune --show',
    '$ sallyport state prune --kept 5f2c… --yes',
  ],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'no_state'],
  flags: (command) =>
    command
      .option('--remove <name>', 'remove the kept artifact of this name for good')
      .option('--yes', 'do not ask'),
  text: ({ kept, removed }) => {
    const lines = kept.map(({ name, bytes }) => `${name}  ${bytesText(bytes)}\n`).join('')
    if (removed !== null) return `Removed ${removed}; ${kept.length} are left.\n`
    return kept.length === 0 ? 'Nothing is kept aside.\n' : lines
  },
  run: async ({ remove }, deps, line: { readonly yes?: boolean }) => {
    if (!existsSync(deps.places.stateDir)) {
      throw fail.noState('no_state', 'There is no state directory here.', {
        next: 'Run `sallyport init`, or name another one with --state-dir.',
      })
    }
    const { keptArtifacts, removeKept } = await import('../../../state/care/kept.js')
    const { stateDir } = deps.places
    if (remove !== undefined) {
      if (line.yes !== true) await deps.confirm('Remove this artifact for good?', '--yes')
      removeKept(stateDir, remove)
    }
    return { kept: keptArtifacts(stateDir), removed: remove ?? null }
  },
})

/** Copies. Throws `conflict` where something is there already. */
export const backup = verb(stateBackup, {
  summary: 'copy the state into a new folder',
  description:
    'Makes a consistent copy while others go on working. The vault key is not in it: a backup '
    + 'alone opens nothing, and a restore needs the key folder. Copy that one apart from it. A '
    + 'damaged state or artifact is refused, since its copy would look whole. With --salvage what '
    + 'is left is copied and the backup says what it lacks. A restore of it holds the whole '
    + 'ceiling for what nobody can read.',
  examples: [
    '$ sallyport state backup /mnt/backup/sallyport-monday',
    '$ sallyport state backup /mnt/backup/what-is-left --salvage',
  ],
  session: 'none',
  anchor: 'any',
  damage: 'decides',
  exits: ['rejected', 'conflict', 'no_state', 'locked', 'damaged'],
  flags: (command) =>
    command
      .argument('<dir>', 'a folder that does not exist yet')
      .option('--salvage', 'copy what is left of a damaged state, and say what is lost'),
  text: ({ to, files, bytes, sequence, loss }, view) =>
    `${view.foreign(to)}\n` +
    `${files} files, ${bytesText(bytes)}, up to record ${sequence}; the key is not in it.\n` +
    (loss === null
      ? '' : `It is not whole: ${loss.damage.join(', ')}; ${loss.artifacts.length} artifacts ` +
        'are not in it.\n'),
  run: async ({ dir, salvage = false }, deps) => {
    const { backupWhole } = await import('../../../fabric/state-care.js')
    const store = await deps.openStore('write')
    const { followForCopy } = await import('../../store.js')
    await followForCopy(deps, store)
    return backupWhole(store, pathFrom(deps.cwd, dir), salvage)
  },
})

const verifyText = (report: StateVerifyDocument, view: View): string => {
  const lines = report.problems.map(({ code, severity, message, subject }) => {
    const where = subject === undefined ? '' : ` (${view.foreign(subject)})`
    return `${severity}  ${code}: ${message}${where}\n`
  })
  const { loss } = report
  const facts = fieldLines([
    ['store', report.store_id],
    ['made', view.time(report.created_at)],
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
    'Compares every file of a backup with its length and hash. It reads the state in it as ' +
    '`state check` does: chains, documents, artifacts, ledger, audit, policy. It opens what is ' +
    'sealed with the key of the key folder. It writes nothing and needs no state of its own. So ' +
    'it may run on the machine that holds the backups, beside a copy of the keys.',
  examples: [
    '$ sallyport state check /mnt/backup/sallyport-monday',
    "$ sallyport state check /mnt/backup/sallyport-monday --json | jq '.problems'",
  ],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'blocked', 'damaged'],
  flags: (command) => command.argument('<dir>', 'a folder that `state backup` made'),
  text: verifyText,
  run: async ({ dir }, deps) => {
    const { verifyWhole } = await import('../../../fabric/state-care.js')
    return verifyWhole(siteOf(deps), pathFrom(deps.cwd, dir))
  },
})

const restoreText = (report: StateRestoreDocument, view: View): string => {
  const { sequence, copied_to: copied } = report
  return [
    `Restored up to record ${sequence}; the policy is revoked and every session has ended.\n`,
    keptText(report, view),
    copied === null
      ? 'There was no state here: what was spent since the backup is not in its ledger.\n'
      : `What was there before: ${view.foreign(copied)}\n`,
  ].join('')
}

/** Restores. Asks first where a state is there already. */
export const restore = verb(stateRestore, {
  summary: 'put a backup in place, with the policy revoked',
  description:
    'Checks the backup whole, copies what is there into the folder aside/, and puts the '
    + 'backup in its place. Everything is closed then. Every session, consent and pairing '
    + 'ends, and every owner but the one who restores waits for `principal enable`. Every '
    + 'unfinished contact counts as unknown, and the policy is revoked above everything that '
    + 'the anchor remembers. The whole ceiling is held until you have seen the bill and settle '
    + 'it with `ledger settle`. What the replaced state owed and the backup does not know '
    + 'stays held as unknown. Its idempotency keys stay spent, and what had been narrowed '
    + 'there stays narrow: owners whom somebody disabled, closed gates, the lower ceiling. It '
    + 'needs the key folder of the store.',
  examples: ['$ sallyport state restore /mnt/backup/sallyport-monday'],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'conflict', 'blocked', 'locked', 'damaged'],
  flags: (command) =>
    command
      .argument('<dir>', 'a folder that `state backup` made')
      .option('--owner <name>', 'who restores, if not the first owner')
      .option('--yes', 'replace the state that is there without asking'),
  text: restoreText,
  run: async ({ dir, owner }, deps, line: { readonly yes?: boolean }) => {
    if (isStateAt(deps.places.stateDir) && line.yes !== true) {
      await deps.confirm('Put the backup in place of the state that is there?', '--yes')
    }
    const { restoreWhole } = await import('../../../fabric/state-care.js')
    const from = pathFrom(deps.cwd, dir)
    return restoreWhole({ ...siteOf(deps), owner }, from)
  },
})
