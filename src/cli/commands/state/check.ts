/** `sallyport state check`: reads everything, takes no lock, changes no byte. */
import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import type { SallyportError } from '../../../base/errors.js'
import type { Problem } from '../../../state/types.js'
import { Degraded } from '../../../base/contract.js'
import type { View } from '../../output.js'
import { fieldLines } from '../../text.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'
import { anchorShape, countShape, problemShape } from './shapes.js'
import { siteOf } from './site.js'

const shape = v.strictObject({
  ok: v.boolean(),
  store_id: v.nullable(v.string()),
  epoch: v.nullable(countShape),
  sequence: v.nullable(countShape),
  log_records: countShape,
  documents: countShape,
  artifacts: countShape,
  anchor: v.nullable(anchorShape),
  problems: v.array(problemShape),
})
/** What a check found; `ok` when nothing but notices. */
export type StateCheck = v.InferOutput<typeof shape>

const meta: VerbMeta = {
  name: 'state check',
  summary: 'read the whole state and say what is wrong',
  description:
    'Reads the log, every snapshot, every document and every artifact, and checks them against ' +
    'their checksums and against the rules of ledger, audit, board, policy, witness and anchor; ' +
    'it opens each artifact that a record names. It takes no lock and changes no byte, so it may ' +
    'run beside anything.',
  examples: ['$ sallyport state check', "$ sallyport state check --json | jq '.problems'"],
  session: 'none',
  exits: ['rejected', 'blocked', 'no_state', 'damaged'],
  json: { version: 1, schema: shape },
}

/** Parses a line of `state check`. */
export const build: Build = (deps) =>
  defineVerb<object, StateCheck>(deps, { meta, text: checkText }, check)

/** Checks. Throws `Degraded` with `damaged`, else with `blocked`, when something is wrong. */
export const check: Run<object, StateCheck> = async (_options, deps) => {
  const { checkWhole } = await import('../../../fabric/state-care.js')
  const found = checkWhole(siteOf(deps))
  const report = { ...found, problems: [...found.problems] }
  const failure = failureOf(report.problems)
  if (failure !== null) throw new Degraded(report, failure)
  return report
}

const failureOf = (problems: readonly Problem[]): SallyportError | null => {
  const count = (severity: Problem['severity']): number =>
    problems.filter((one) => one.severity === severity).length
  const has = (name: string): boolean => problems.some(({ code }) => code === name)
  const details = { damage: count('damage'), blocked: count('blocked') }
  if (details.damage > 0) {
    return fail.damaged('state_damaged', 'The state is damaged or contradicts itself.', {
      next: 'Run `sallyport state repair`; what it leaves needs `sallyport state restore`.',
      details,
    })
  }
  if (details.blocked > 0) {
    return fail.blocked('state_blocked', 'The state is whole, but nothing may be contacted.', {
      next: nextOf(has),
      details,
    })
  }
  return null
}

/** The step that helps, by the reason that comes first. */
const nextOf = (has: (name: string) => boolean): string => {
  if (has('init_unfinished')) return 'Run `sallyport init` again, with the same arguments.'
  return has('key_missing')
    ? 'Put the key file back into the key folder; `sallyport doctor` tells where that is.'
    : 'sallyport help anchor'
}

const checkText = (report: StateCheck, view: View): string => {
  const colours = { damage: 'red', blocked: 'red', torn: 'yellow', notice: 'dim' } as const
  const lines = report.problems.map(({ code, severity, message, subject }) => {
    const where = subject === undefined ? '' : ` (${view.foreign(subject)})`
    return `${view.paint(colours[severity], severity)}  ${code}: ${message}${where}\n`
  })
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
