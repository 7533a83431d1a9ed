/** `sallyport state check`: reads everything, takes no lock, changes no byte. */
import { stateCheck, type StateCheckDocument } from '../../../fabric/state-contract.js'
import type { View } from '../../output.js'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { siteOf } from './site.js'

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
    'Reads the log, every snapshot, every document and every artifact, and checks them against ' +
    'their checksums and against the rules of ledger, audit, board, policy, witness and anchor; ' +
    'it opens each artifact that a record names. It takes no lock and changes no byte, so it may ' +
    'run beside anything.',
  examples: ['$ sallyport state check', "$ sallyport state check --json | jq '.problems'"],
  session: 'none',
  anchor: 'any',
  damage: 'unasked',
  exits: ['rejected', 'blocked', 'no_state', 'damaged'],
  text: checkText,
  run: async (_request, deps) => {
    const { checkWhole } = await import('../../../fabric/state-care.js')
    return checkWhole(siteOf(deps))
  },
})
