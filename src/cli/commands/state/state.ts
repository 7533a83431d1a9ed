/** `sallyport state`: where it lies, whether it is sound, and what keeps it small. */
import { join } from 'node:path'
import {
  statePath, stateCheck, stateCompact, type StateCheckDocument,
} from '../../../fabric/state-contract.js'
import { stateKeys } from '../../../governance/board/lost-keys-contract.js'
import { lostKeyRanges, releaseLostKeys } from '../../../governance/board/lost-keys.js'
import { isStateAt } from '../../../state/paths.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'
import { fieldLines, bytesText } from '../../text.js'
import { verb } from '../../verb.js'
import { workFor } from '../../work.js'
import { siteOf } from './site.js'

/** Decides the folders. Throws `rejected` when the keys would lie inside the state. */
export const path = verb(statePath, {
  summary: 'print where the state and its keys lie',
  description:
    'Prints the state directory; with --verbose or --json also the folder of the vault keys. ' +
    'It looks and touches nothing, and works where there is no state yet.',
  examples: ['$ sallyport state path', '$ cd "$(sallyport state path)"'],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected'],
  text: (found, view, deps) =>
    deps.globals.verbose
      ? fieldLines([
          ['state', view.foreign(found.state_dir)],
          ['keys', view.foreign(join(found.config_dir, 'keys'))],
          ['exists', found.exists ? 'yes' : 'no'],
        ])
      : `${view.foreign(found.state_dir)}\n`,
  run: async (_request, { places }) =>
    ({
      state_dir: places.stateDir,
      config_dir: places.configDir,
      exists: isStateAt(places.stateDir),
    }),
})

const checkText = (report: StateCheckDocument, view: View): string => {
  const colours = { damage: 'red', blocked: 'red', torn: 'yellow', notice: 'dim' } as const
  const lines = report.problems.map(({ code, severity, message, subject }) => {
    const where = subject === undefined ? '' : ` (${view.foreign(subject)})`
    return `${view.paint(colours[severity], severity)}  ${code}: ${message}${where}\n`
  })
  for (const [code, n] of Object.entries(report.more ?? {})) {
    lines.push(`${code}: ${n} in all, the first of them are listed\n`)
  }
  const facts = fieldLines([
    ['store', report.store_id ?? 'unknown'],
    ['sequence', String(report.sequence ?? 'unknown')],
    ['log records', String(report.log_records)],
    ['documents', String(report.documents)],
    ['artifacts', String(report.artifacts)],
    ['anchor', report.anchor ?? 'unknown'],
  ])
  return `${lines.join('')}${facts}${report.ok ? 'The state is sound.\n' : ''}`
}

/** Checks. Throws `Degraded` with `damaged`, else with `blocked`, when something is wrong. */
export const check = verb(stateCheck, {
  summary: 'read the whole state and say what is wrong',
  description:
    'Reads the log, every snapshot, every document and every artifact. It checks them against '
    + 'their checksums and the rules of ledger, audit, board, policy, witness and anchor. It opens '
    + 'each artifact that a record names. It takes no lock and changes no byte, so it may run '
    + 'beside anything. With a backup it reads that in the same way, and says whether it could '
    + 'be restored. It needs no state of its own then, but the key folder.',
  examples: [
    '$ sallyport state check', "$ sallyport state check --json | jq '.problems'",
    '$ sallyport state check /mnt/backup/sallyport-monday',
  ],
  flags: (command) => command.argument('[dir]', 'a folder that `state backup` made'),
  joins: [{
    by: 'BACKUP', load: async () => (await import('./backup.js')).verify,
    line: ({ dir, ...line }) => (dir === undefined ? null : { ...line, dir }),
  }],
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'blocked', 'no_state', 'damaged'],
  text: checkText,
  run: async (_request, deps) => {
    const { checkWhole } = await import('../../../fabric/state-care.js')
    return checkWhole(siteOf(deps))
  },
})

export const compact = verb(stateCompact, {
  summary: 'fold the log into snapshots',
  description:
    'Folds the log into snapshots and removes stored artifacts that no record names. It happens ' +
    'by itself as the log grows; this does it now. Nothing that a record names is removed, and ' +
    'while an operation is under way no artifact is.',
  examples: ['$ sallyport state compact'],
  session: 'none',
  exits: ['rejected', 'no_state', 'locked', 'damaged'],
  text: (report) =>
    `Folded ${bytesText(report.log_bytes_before)} of log up to record ${report.sequence}; ` +
    `${report.orphans_removed} artifacts without a record removed.\n`,
  run: async (_request, deps) => {
    const { compactWhole } = await import('../../../fabric/state-care.js')
    return compactWhole((await deps.gov('write')).store)
  },
})

/** Lists, or releases one. Throws `not_found` `lost_keys_not_found`. */
export const keys = verb(stateKeys, {
  summary: 'ranges of idempotency keys that damage took, and releasing one',
  description:
    'After a repair or a restore that lost rows nobody knows which idempotency keys were used in '
    + 'them. So every key of such a range that a caller names counts as spent, whatever time it '
    + 'carries. Where records of the log are gone, the range is of all keys. A request without a '
    + 'key is not concerned. This lists the ranges; --release ends one: what was sent under a key '
    + 'of it may then be sent, and paid, again.',
  examples: ['$ sallyport state keys', '$ sallyport state keys --release documents-4-5f2c…-0'],
  exits: ['rejected', 'not_found', 'locked'],
  flags: (command) => command
    .option('--release <id>', 'let keys of this range be used again')
    .option('--yes', 'do not ask'),
  text: ({ ranges, released }, view) => {
    if (released !== null) return `Released ${view.foreign(released)}.\n`
    if (ranges.length === 0) return 'No keys were lost.\n'
    return renderTable(view, ['range', 'from', 'to before', 'lost', 'released'],
      ranges.map(({ id, from, to, at, released_at: freed }) =>
        [id, view.foreign(from), view.foreign(to ?? 'the end'), view.time(at),
          freed === null ? 'no' : view.time(freed)]))
  },
  run: async ({ release }, deps, line: { readonly yes?: boolean }) => {
    if (release === undefined) {
      const { gov } = await deps.login('read')
      return { ranges: lostKeyRanges(gov.store.read()), released: null }
    }
    const { gov, session } = await workFor(deps, 'mutate')
    if (line.yes !== true) {
      await deps.confirm('Let keys of this range be used, and perhaps paid, again?', '--yes')
    }
    await releaseLostKeys(gov, session, release)
    return { ranges: lostKeyRanges(gov.store.read()), released: release }
  },
})
