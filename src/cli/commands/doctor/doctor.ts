/** `sallyport doctor`: whether this machine can run the program. Looks, and touches nothing. */
import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import { Degraded } from '../../../base/contract.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbMeta } from '../../verb.js'

const shape = v.strictObject({
  ok: v.boolean(),
  checks: v.array(
    v.strictObject({
      name: v.string(),
      result: v.picklist(['ok', 'note', 'problem']),
      text: v.string(),
      next: v.nullable(v.string()),
    }),
  ),
})
/** What was looked at. `ok` is true when nothing is a problem. */
export type DoctorReport = v.InferOutput<typeof shape>

const meta: VerbMeta = {
  name: 'doctor',
  summary: 'check whether this machine can run sallyport',
  description:
    'Looks at Node, the lock add-on, the folders and key files with their modes, and the ' +
    'environment. ' +
    'It contacts nobody, needs no state and changes nothing.',
  examples: ['$ sallyport doctor', '$ sallyport doctor --json'],
  session: 'none',
  exits: ['blocked', 'rejected'],
  json: { version: 1, schema: shape },
}

/** Parses a line of `doctor`. */
export const build: Build = (deps) =>
  defineVerb<object, DoctorReport>(
    deps,
    {
      meta,
      text: ({ checks }, view) => {
        const marks = {
          ok: view.paint('green', 'ok     '),
          note: view.paint('yellow', 'note   '),
          problem: view.paint('red', 'problem'),
        }
        return checks
          .map(({ name, result, text, next }) => {
            const step = next === null ? '' : `         next: ${next}\n`
            return `${marks[result]}  ${name}: ${view.foreign(text)}\n${step}`
          })
          .join('')
      },
    },
    doctor,
  )

/** Runs every check. Throws `Degraded` with a `blocked` failure when one is a problem. */
export const doctor: Run<object, DoctorReport> = async (_options, deps) => {
  const { runChecks } = await import('./checks.js')
  const checks = runChecks(deps)
  const problems = checks.filter(({ result }) => result === 'problem')
  const report = { ok: problems.length === 0, checks }
  if (report.ok) return report
  throw new Degraded(
    report,
    fail.blocked('doctor_found_problems', `${problems.length} of ${checks.length} checks failed.`, {
      details: { problems: problems.length },
    }),
  )
}
