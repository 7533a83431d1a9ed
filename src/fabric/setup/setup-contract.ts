/** What comes out of being led through a set-up: what stands, step by step. */
import * as v from 'valibot'
import { command, sentence } from '../../base/told.js'
import { contract } from '../../base/contract.js'
import { fail } from '../../base/errors.js'

/** The steps, in the order in which one needs the other. */
const setupSteps = ['state', 'session', 'alpha', 'gateway', 'shots', 'proof', 'timers'] as const
/** One of them. */
export type SetupStep = (typeof setupSteps)[number]

/** One step as it stands. */
export interface StepStatus {
  /** Whether what it is for is there. */
  readonly done: boolean
  /** What stands, in a few words. */
  readonly told: string
  /** False where an earlier step has to be done first, or the sealed profile has no such route. */
  readonly possible: boolean
  /** Lines that use what is done, without the name of the program, where they depend on it. */
  readonly uses?: readonly string[]
}

const shape = v.strictObject({
  steps: v.array(v.strictObject({
    step: v.picklist(setupSteps),
    done: v.boolean(),
    told: sentence,
    /** What was asked for here and did not succeed. */
    failed: v.boolean(),
  })),
  /** What can be typed now, by what is done. */
  next: v.array(command),
})
/** The steps as they stand at the end. */
export type SetupDocument = v.InferOutput<typeof shape>

/** Being led through. */
export const setup = contract({
  name: 'setup',
  output: shape,
  failure: ({ steps }) => {
    const failed = steps.filter((one) => one.failed).map(({ step }) => step)
    return failed.length === 0 ? null : fail.failed(
      'setup_incomplete', `These steps did not succeed: ${failed.join(', ')}.`, {
        next: 'What each said stands above. Run `sallyport setup` again: what is done stays done.',
        details: { steps: failed.join(', ') },
      })
  },
})
