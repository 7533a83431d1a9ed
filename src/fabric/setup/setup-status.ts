/** Which steps of a set-up are done, out of the state alone. Opens no socket, asks no machine. */
import { existsSync } from 'node:fs'
import { nextStepsOf } from '../../base/next-step.js'
import { alphaReasons, type AlphaReasonCode } from '../../alpha/readiness.js'
import { projectGateway } from '../../gateway/projection.js'
import { gatewayFacts } from '../../gateway/readiness.js'
import type { StatusLine } from '../../governance/capability.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { LookingWorld } from '../../governance/waiting.js'
import type { ShotsContext } from '../../shots/context.js'
import { gateTextOf } from '../../shots/gates.js'
import { savedSettings } from '../../shots/source/settings.js'
import type { View } from '../../state/types.js'
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

const withoutStop = (text: string): string => text.replace(/\.$/, '')

/** Questions have words of their own for what is told of them; the other two share theirs. */
const alphaText = (code: string): string | undefined =>
  (Object.hasOwn(alphaReasons, code) ? alphaReasons[code as AlphaReasonCode].text : undefined)

const ofLine = (
  line: StatusLine | undefined, possible: boolean,
  textOf: (code: string) => string | undefined = (code) => gateTextOf(code)?.text,
): StepStatus => {
  const { status = 'not known', reason_code: code = null, reason } = line ?? {}
  const why = code === null ? ''
    : `: ${withoutStop(reason ?? textOf(code) ?? code.replaceAll('_', ' '))}`
  return { done: status === 'configured', told: `${status}${why}`, possible }
}

/** Its slots, too: one that is set and closed is not done, and what is not set is told. */
const gatewayOf = (gov: Gov, line: StatusLine | undefined, possible: boolean): StepStatus => {
  const standing = ofLine(line, possible)
  const { gateway } = projectGateway(gatewayFacts(gov, gov.store.read(), routePlaces(gov).gateway))
  if (!standing.done || gateway === null) return standing
  const slots = Object.values(gateway.slots)
  const closed = slots.find(({ model, status }) => model !== null && status !== 'configured')
  if (closed !== undefined) {
    return open(`${closed.slot}: ${withoutStop(closed.reason ?? closed.status)}`, possible)
  }
  const names = (isSet: boolean): string =>
    slots.filter(({ model }) => (model !== null) === isSet)
      .map(({ slot }) => (slot === 'report' && !isSet ? 'report (for digests)' : slot)).join(', ')
  const [set, left] = [names(true), names(false)]
  if (set === '') return open('no slot is set', possible)
  return { ...standing, told: left === '' ? set : `${set}; not set: ${left}` }
}

const proofOf = (gov: Gov, possible: boolean): StepStatus => {
  const proofs = slotProofs(gov)
  if (proofs.length === 0) return open('no slot is set', false)
  return {
    done: proofs.every(({ state }) => state === 'current'), possible,
    told: proofs.map(({ slot, state }) => `${slot}: ${state}`).join(', '),
  }
}

/** Where all that wait are blocked, another pass would leave them so: what opens their way. */
const analysisLines = async (ctx: ShotsContext, view: View): Promise<readonly string[]> => {
  const { blockedAnywhere, groupsOf, mostBlockedNext } =
    await import('../../shots/analysis/blocked.js')
  const { classificationNow, currentFacts } =
    await import('../../shots/observations/as-of-now.js')
  const now = currentFacts(ctx, view)
  const { reasons } = blockedAnywhere(ctx, view, now)
  const waits = groupsOf(view, 'pending').some((key) => classificationNow(key, now) === null)
  const opening = waits ? []
    : nextStepsOf(mostBlockedNext(ctx, view, reasons))
      .map(({ command }) => command.replace(/^sallyport /, ''))
  return opening.length > 0 ? opening : ['shots analyze']
}

/** Images that wait blocked are nothing that a set-up would mend: what counts is what is saved. */
const shotsOf = async (
  ctx: ShotsContext, line: StatusLine | undefined, possible: boolean,
): Promise<StepStatus> => {
  const view = ctx.gov.store.read()
  const { screenshot_folder: folder } = savedSettings(view)
  if (folder === null) return open('no folder', possible)
  if (!existsSync(folder)) return open('its folder is not there', possible)
  const standing = ofLine(line, possible)
  if (line === undefined || line.status === 'disabled') return standing
  const told = line.status === 'blocked' ? `configured; ${line.reason ?? 'blocked'}` : standing.told
  return { ...standing, done: true, told, uses: await analysisLines(ctx, view) }
}

/** The steps of an open state. */
export const setupStatus = async (
  gov: Gov, { isLoggedIn, at, scheduler, world }: Around,
): Promise<SetupStatus> => {
  const lines = await readStatusLines(gov, { world, session: null })
  const [{ dir }, { name: profile }] = [gov.store, deploymentProfile(gov.store)]
  const hasGateway = routePlaces(gov).gateway.baseUrl !== null
  const noGateway = open('the sealed profile has no gateway', false)
  const { lookingShots } = await import('../contexts/shots.js')
  const shots = await shotsOf(lookingShots(world, gov), lines['shots'], isLoggedIn)
  return {
    state: {
      done: true, possible: false,
      told: `${at === null ? '' : `${at}, `}${dir}, sealed for ${profile}`,
    },
    session: { done: isLoggedIn, told: isLoggedIn ? 'logged in' : 'none', possible: !isLoggedIn },
    alpha: ofLine(lines['alpha'], isLoggedIn, alphaText),
    gateway: hasGateway ? gatewayOf(gov, lines['gateway'], isLoggedIn) : noGateway,
    shots,
    proof: hasGateway ? proofOf(gov, isLoggedIn) : noGateway,
    // All that they run is about screenshots.
    timers: {
      done: scheduler !== null, told: scheduler ?? 'none',
      possible: scheduler !== null || savedSettings(gov.store.read()).screenshot_folder !== null,
    },
  }
}
