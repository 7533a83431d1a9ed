/** What comes out of looking at this machine. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { fail } from '../base/errors.js'
import { nullableSentence, sentence } from '../base/told.js'

const checkShape = v.strictObject({
  name: v.string(),
  result: v.picklist(['ok', 'note', 'problem']),
  text: sentence,
  next: nullableSentence,
})
export type MachineCheck = v.InferOutput<typeof checkShape>

const doctorShape = v.strictObject({ ok: v.boolean(), checks: v.array(checkShape) })
const problemsOf = (checks: readonly MachineCheck[]): number =>
  checks.filter(({ result }) => result === 'problem').length

/** Looking at the machine. A problem is a failure. */
export const doctor = contract({
  name: 'doctor',
  output: doctorShape,
  toDocument: (checks: readonly MachineCheck[]) =>
    ({ ok: problemsOf(checks) === 0, checks: [...checks] }),
  failure: (checks) => {
    const problems = problemsOf(checks)
    return problems === 0 ? null : fail.blocked(
      'doctor_found_problems', `${problems} of ${checks.length} checks failed.`,
      { details: { problems } },
    )
  },
})
