/** Which steps of a set-up are done, out of the state alone. Opens no socket, asks no machine. */
import { existsSync } from 'node:fs'
import { alphaReasons, type AlphaReasonCode } from '../../alpha/readiness.js'
import type { StatusLine } from '../../governance/capability.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { LookingWorld } from '../../governance/waiting.js'
import { gateTextOf } from '../../shots/gates.js'
import { savedSettings } from '../../shots/source/settings.js'
import { routePlaces } from '../places.js'
import { readStatusLines } from '../status.js'
import { slotProofs } from '../timers/slot-proofs.js'
import type { SetupStep, StepStatus } from './setup-contract.js'

type SetupStatus = Readonly<Record<SetupStep, StepStatus>>

/** What is asked of the machine and of the session, by whoever can ask them. */
interface Around {
  readonly isLoggedIn: boolean
  /** Name of the state; null where it has none. */
  readonly at: string | null
  /** What runs the timers; null where nothing does. */
  readonly scheduler: string | null
  readonly world: LookingWorld
}

const open = (told: string, possible: boolean): StepStatus => ({ done: false, told, possible })

/** Where there is no state nothing else can be done. */
export const statusWithoutState: SetupStatus = {
  state: open('there is none', true),
  session: open('it needs a state', false),
  alpha: open('it needs a state', false),
  gateway: open('it needs a state', false),
  shots: open('it needs a state', false),
  proof: open('it needs a state', false),
  timers: open('it needs a state', false),
}

/** The sentence of a reason, in the words of whichever capability has it. */
const reasonText = (code: string): string =>
  (Object.hasOwn(alphaReasons, code) ? alphaReasons[code as AlphaReasonCode].text
    : gateTextOf(code)?.text) ?? code.replaceAll('_', ' ')

const ofLine = (line: StatusLine | undefined, possible: boolean): StepStatus => {
  const { status = 'not known', reason_code: code = null, reason } = line ?? {}
  const why = code === null ? '' : `: ${(reason ?? reasonText(code)).replace(/\.$/, '')}`
  return { done: status === 'configured', told: `${status}${why}`, possible }
}

const proofOf = (gov: Gov, possible: boolean): StepStatus => {
  const proofs = slotProofs(gov)
  if (proofs.length === 0) return open('no slot is set', false)
  return {
    done: proofs.every(({ state }) => state === 'current'), possible,
    told: proofs.map(({ slot, state }) => `${slot}: ${state}`).join(', '),
  }
}

/** Images that wait blocked are nothing that a set-up would mend: what counts is what is saved. */
const shotsOf = (
  folder: string | null, line: StatusLine | undefined, possible: boolean,
): StepStatus => {
  if (folder === null) return open('no folder', possible)
  if (!existsSync(folder)) return open('its folder is not there', possible)
  return { ...ofLine(line, possible), done: line !== undefined && line.status !== 'disabled' }
}

/** The steps of an open state. */
export const setupStatus = async (
  gov: Gov, { isLoggedIn, at, scheduler, world }: Around,
): Promise<SetupStatus> => {
  const lines = await readStatusLines(gov, { world, session: null })
  const [{ dir }, { name: profile }] = [gov.store, deploymentProfile(gov.store)]
  const hasGateway = routePlaces(gov).gateway.baseUrl !== null
  const noGateway = open('the sealed profile has no gateway', false)
  const { screenshot_folder: folder } = savedSettings(gov.store.read())
  return {
    state: {
      done: true, possible: false,
      told: `${at === null ? '' : `${at}, `}${dir}, sealed for ${profile}`,
    },
    session: { done: isLoggedIn, told: isLoggedIn ? 'logged in' : 'none', possible: !isLoggedIn },
    alpha: ofLine(lines['alpha'], isLoggedIn),
    gateway: hasGateway ? ofLine(lines['gateway'], isLoggedIn) : noGateway,
    shots: shotsOf(folder, lines['shots'], isLoggedIn),
    proof: hasGateway ? proofOf(gov, isLoggedIn) : noGateway,
    // All that they run is about screenshots.
    timers: {
      done: scheduler !== null, told: scheduler ?? 'none',
      possible: scheduler !== null || folder !== null,
    },
  }
}
