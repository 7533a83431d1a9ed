import { fail, SallyportError } from '../../../base/errors.js'
import { exitStatus } from '../../../base/outcome.js'
import { commandLine } from '../../../base/told.js'
import {
  setup as setupContract, type SetupDocument, type SetupStep, type StepStatus,
} from '../../../fabric/setup/setup-contract.js'
import { setupStatus, statusWithoutState } from '../../../fabric/setup/setup-status.js'
import { noTimerStatus } from '../../../fabric/timers/timers-contract.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import type { Prompter } from '../../prompt.js'
import { tellTyped } from '../../typed.js'
import { verb, type VerbDeps } from '../../verb.js'
import { foundTimers } from '../timers/found-timers.js'
import { isRunning } from '../sandbox/claim.js'
import { sandboxDir } from '../sandbox/dir.js'
import { rehearsalOf } from '../sandbox/rehearsal.js'
import { talks, type Offer, type Talk } from './talk.js'

// Going through the steps: each runs the very command that it tells, with the same person.

/** What stands, and how far the state has come: a step that saved something moved it. */
interface Look {
  readonly steps: Readonly<Record<SetupStep, StepStatus>>
  readonly sequence: number
  /** Whether the sandbox of this machine runs for it. */
  readonly rehearses: boolean
}

/** The answer, or null where it is refused for this reason. */
const unless = async <T>(
  kinds: readonly SallyportError['kind'][], look: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await look()
  } catch (error) {
    if (error instanceof SallyportError && kinds.includes(error.kind)) return null
    throw error
  }
}

const lookAtState = async (deps: VerbDeps, gov: Gov): Promise<Look> => {
  const session = await unless(['unauthorized'], () => deps.login('read', { touch: false }))
  const timers = await unless(['conflict', 'failed'], () => foundTimers(deps, noTimerStatus))
  const around = {
    isLoggedIn: session !== null, at: await deps.at(), scheduler: timers?.scheduler ?? null,
    world: deps,
  }
  const rehearsal = await rehearsalOf(deps, deploymentProfile(gov.store))
  return {
    steps: await setupStatus(gov, around), sequence: gov.store.read().sequence,
    rehearses: rehearsal?.isRunning ?? false,
  }
}

/** Reads everything anew: the command before has changed it in a store of its own. */
const lookAround = async (deps: VerbDeps): Promise<Look> => {
  await deps.closeStores()
  const gov = await unless(['no_state'], () => deps.gov('read'))
  return gov === null ? { steps: statusWithoutState, sequence: 0, rehearses: false }
    : lookAtState(deps, gov)
}

/** A prompter that knows whether its person has left. */
const watched = (prompter: Prompter) => {
  let isLeft = false
  const noting = <A extends unknown[], T>(ask: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        return await ask(...args)
      } catch (error) {
        isLeft = true
        throw error
      }
    }
  return {
    isLeft: () => isLeft,
    prompter: {
      confirm: noting(prompter.confirm), text: noting(prompter.text),
      secret: noting(prompter.secret), choose: noting(prompter.choose),
      pick: noting(prompter.pick),
    } satisfies Prompter,
  }
}

const keep = 'not now'

type Lines = readonly (readonly string[])[]

/** The commands that an answer stands for, in order. */
const linesOf = (deps: VerbDeps, { words, needs }: Offer): Lines =>
  (needs === 'sandbox' && !isRunning(sandboxDir(deps, undefined))
    ? [['sandbox', 'start', '--background'], words] : [words])

/** The answer that a person wants; null where they leave the step as it is. */
const wanted = async (
  prompter: Prompter, { offers, question, again }: Talk, { done, possible }: StepStatus,
  throughDone: () => Promise<boolean>,
): Promise<Offer | null> => {
  const asked = done ? again : question
  if (asked === null || !possible || (done && !await throughDone())) return null
  const [first, ...others] = offers
  if (others.length === 0) return await prompter.confirm(asked) ? first : null
  const chosen = await prompter.choose(asked, [keep, ...offers.map(({ label }) => label)], keep)
  return offers.find(({ label }) => label === chosen) ?? null
}

/** The flags of this run that a step runs with, too. */
const globalWords = ({ globals }: VerbDeps): readonly string[] => [
  ...(globals.at === null ? [] : ['--at', globals.at]),
  ...(globals.stateDir === null ? [] : ['--state-dir', globals.stateDir]),
  ...(globals.configDir === null ? [] : ['--config-dir', globals.configDir]),
  ...(globals.quiet ? ['--quiet'] : []), ...(globals.verbose ? ['--verbose'] : []),
  ...(globals.noColor ? ['--no-color'] : []), ...(globals.utc ? ['--utc'] : []),
  '--wait', String(globals.waitMs / 1_000),
]

/** Where the results of steps go: beside the result of this verb where that is a document. */
const stepIo = ({ io, globals }: VerbDeps, { isTerse }: Talk): VerbDeps['io'] => {
  if (isTerse === true) return { ...io, writeOut: () => undefined }
  return globals.json
    ? { ...io, writeOut: (data) => io.writeErr(Buffer.from(data).toString()) } : io
}

const runStep = async (
  deps: VerbDeps, prompter: Prompter, talk: Talk, words: readonly string[],
): Promise<number> => {
  const { places } = deps
  return deps.again({
    ...deps,
    argv: [...words, ...globalWords(deps)],
    // A person takes minutes: each step is about the state that the first one was about.
    foldersNamed: () => places,
    prompter: async () => prompter,
    page: async () => false,
    io: stepIo(deps, talk),
  })
}

/** Runs them in order, up to the first that does not succeed; gives the status of the last run. */
const runLines = async (
  deps: VerbDeps, prompter: Prompter, talk: Talk, lines: Lines,
): Promise<number> => {
  for (const words of lines) {
    const status = await runStep(deps, prompter, talk, words)
    if (status !== exitStatus.ok) return status
  }
  return exitStatus.ok
}

const savedText = (saved: readonly SetupStep[]): string =>
  (saved.length === 0 ? 'Nothing was saved.' : `Saved and kept: ${saved.join(', ')}.`)

const openText = ({ steps }: Look): string => {
  const open = talks.filter(({ step }) => step !== 'timers' && !steps[step].done)
  return open.length === 0 ? '' : `\nNot done: ${open.map(({ step }) => step).join(', ')}. `
    + 'Enter leaves a step as it is, y takes it. To go on: `sallyport setup`'
}

/** What is done can be used: the lines of an ask, and of the day. */
const nextOf = ({ steps, rehearses }: Look): readonly string[] => {
  const { state, session, alpha, shots, proof } = steps
  const isOpen = [state, session, alpha, shots].some(({ done }) => !done)
  return [
    ...(alpha.done ? ['alpha ask'] : []),
    ...(shots.done ? ['shots scan'] : []),
    ...(shots.done && proof.done
      ? [...shots.uses ?? [], 'shots day'] : []),
    ...(isOpen ? ['setup'] : []),
    ...(state.done ? ['status'] : []),
    ...(rehearses ? [endOfRehearsal] : []),
  ].map((line) => commandLine(line))
}

const endOfRehearsal = 'sandbox stop'

/** What the line of a command stands behind: what ends a rehearsal is no next thing to do. */
const labelOf = (line: string, n: number): string => {
  if (line === commandLine(endOfRehearsal)) return 'later'
  return n === 0 ? 'next' : ''
}

const stepLine = ({ step }: Talk, { told }: StepStatus, { steps }: Look): string => {
  const waits = ['alpha', 'gateway', 'shots', 'proof'].includes(step) && !steps.session.done
  return `${step.padEnd(9)}${told}${waits ? ': it needs a session' : ''}`
}

const documentOf = (look: Look, failed: ReadonlySet<SetupStep>): SetupDocument => ({
  steps: talks.map(({ step }) => {
    const { done, told } = look.steps[step]
    return { step, done, told, failed: failed.has(step) }
  }),
  next: [...nextOf(look)],
})

/**
 * Leads through all steps. Enter alone leaves each as it is; a step that does not succeed is told,
 * and the others go on. Throws `usage` where nobody can be asked, and `cancelled` `setup_left`
 * where the person leaves, with what was saved by then.
 */
const walkThrough = async (deps: VerbDeps, instead: string): Promise<SetupDocument> => {
  let look = await lookAround(deps)
  const { prompter, isLeft } = watched(await deps.ask(instead))
  const [saved, failed]: [SetupStep[], Set<SetupStep>] = [[], new Set()]
  const left = (cause?: unknown): Error =>
    fail.cancelled('setup_left', `You left. ${savedText(saved)}`, {
      next: 'Go on with `sallyport setup`: what is done stays done.', cause,
    })
  let isWanted: Promise<boolean> | undefined
  // Asked once, so that a person who is led further is not asked about all that stands.
  const throughDone = (): Promise<boolean> =>
    (isWanted ??= prompter.confirm('Go through what is done, too'))
  const takeStep = async (talk: Talk): Promise<void> => {
    const standing = look.steps[talk.step]
    deps.note(`\n${stepLine(talk, standing, look)}`)
    const offer = await wanted(prompter, talk, standing, throughDone)
    if (offer === null) return
    const lines = linesOf(deps, offer)
    if (!talk.isForm) tellTyped(deps, lines)
    const status = await runLines(deps, prompter, talk, lines)
    if (isLeft() || deps.stop.aborted) throw left()
    if (status !== exitStatus.ok && status !== exitStatus.cancelled) failed.add(talk.step)
    const before = look.sequence
    look = await lookAround(deps)
    if (talk.isTerse === true && look.steps[talk.step].done) {
      deps.note(stepLine(talk, look.steps[talk.step], look))
    }
    const isSaved = talk.step === 'timers' || look.sequence !== before
    if (status === exitStatus.ok && isSaved) saved.push(talk.step)
  }
  for (const talk of talks) {
    try {
      await takeStep(talk)
    } catch (error) {
      throw isLeft() && !(error instanceof SallyportError) ? left(error) : error
    }
  }
  deps.note(`\n${savedText(saved)}${openText(look)}`)
  return documentOf(look, failed)
}

const instead = 'A script types what it would run: `sallyport init`, `sallyport login`, '
  + '`sallyport alpha setup --help`, `sallyport gateway setup --help`, '
  + '`sallyport shots setup --help`, `sallyport gateway prove --all`, '
  + '`sallyport timers install --help`.'

export const setup = verb(setupContract, {
  summary: 'be led through all of it, from the state directory to the timers',
  description:
    'Asks on a terminal, step by step: provider or rehearsal, session, key, limits and consent of '
    + 'questions, the gateway. Then it asks for the folder of screenshots and what may leave it, '
    + 'the proof, timers. A rehearsal starts the sandbox in the background and fills in its keys '
    + 'and models. Each step runs a command that it tells, so next time you can type it. Enter '
    + 'leaves a step as it is. It lists what is done, and asks once to redo it. '
    + 'Ctrl-C keeps what is saved by then.',
  examples: ['$ sallyport setup'],
  session: 'none',
  contacts: true,
  exits: ['rejected', 'conflict', 'locked', 'damaged'],
  text: ({ steps, next }) => [
    ...steps.map(({ step, done, told }) => `${step.padEnd(9)}${done ? 'done' : 'open'}  ${told}\n`),
    ...next.map((line, n) => `${labelOf(line, n).padEnd(9)}${line}\n`),
  ].join(''),
  run: async (_request, deps) => walkThrough(deps, instead),
})
