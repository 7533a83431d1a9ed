import { shotsContext } from '../../../fabric/contexts/shots.js'
import {
  devicesText, egressText, overrideNote, renewText, saveShotsConfig, seenSettings,
  showShotsConfig, type ShotsConfig,
} from '../../../shots/source/config.js'
import { namedNow, offeredDevices } from '../../../shots/captures/naming.js'
import type { CapturingDevice } from '../../../observations/captures.js'
import type { ShotsContext } from '../../../shots/context.js'
import { closedSettings } from '../../../shots/gates.js'
import { judgeFolder, requireNoWorse } from '../../../shots/source/folder.js'
import { foundFolders } from '../../../shots/source/found-folders.js'
import {
  parseSettingsChange, type SavedShotSettings,
} from '../../../shots/source/settings.js'
import { countText } from '../../../base/counted.js'
import { shotLimits } from '../../../shots/constants.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { shotsEstimate } from '../../../shots/estimate/estimate-contract.js'
import type { VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { requireYes } from '../../ask-verdict.js'
import { differenceOf } from '../../difference.js'
import {
  askLimit, changeText, moneyLimit, nothingChanges, readInteger, refusalOf, secondsLimit,
  type Limit,
} from '../../form.js'
import { untilAgreed } from '../../form-again.js'
import { sentBeforeLines } from '../../sent-before.js'
import { paragraph } from '../../output.js'
import type { Prompter } from '../../prompt.js'
import { visibleLine } from '../../text.js'
import { tellTyped } from '../../typed.js'
import { flagsOfChange } from './config-flags.js'
import { rehearsalOf } from '../sandbox/rehearsal.js'
import { samplesOffer, type SamplesOffer } from '../sandbox/samples-offer.js'

type Change = Record<string, unknown>
type Parts = Pick<Limit, 'message' | 'offers' | 'label' | 'read' | 'form'>

const microusdMax = 1_000_000_000

const money = (message: string, offers: readonly number[]) =>
  ({ ...moneyLimit, message, offers, range: { min: 1, max: microusdMax } })

/** The operator's own bounds; what an image costs is told by the ledger alone. */
const limits = {
  budget_microusd: money('Spend in any 24 hours:', [200_000, 1_000_000, 5_000_000]),
  budget_requests: {
    message: 'Requests in any 24 hours:', offers: [50, 200, 1_000], label: String,
    read: readInteger, form: 'a plain positive integer', range: { min: 1, max: 1_000_000 },
  },
  request_cost_bound_microusd: money('Bound for one image:', [10_000, 20_000, 50_000]),
  settle_seconds: {
    message: 'While a region keeps changing, one image per:',
    offers: [30, 60, 120], label: secondsLimit.label,
    read: readInteger, form: 'a plain positive integer',
    range: { min: shotLimits.settleSecondsMin, max: shotLimits.settleSecondsMax },
  },
} as const satisfies Record<string, Parts & Pick<Limit, 'range'>>

/** What is asked to be switched on, where it is not: an answer of no leaves it as it is. */
const asksFor = {
  analysis: ['on', 'Have images analysed by the configured model'],
  cloud_upload: ['on', 'Let whole images leave this machine for it'],
} as const

const strictWords = { fallbacks: 'deny', data_collection: 'deny', zdr: 'on' } as const

const isStrict = (saved: SavedShotSettings): boolean =>
  Object.entries(strictWords).every(([name, word]) =>
    saved[name as keyof typeof strictWords] === word)

/** No shell reads what is typed into a form: `~` is put in here. */
const fromHome = (home: string, typed: string): string =>
  (typed === '~' || typed.startsWith('~/') ? home + typed.slice(1) : typed)

const folderText = 'Every image in the folder counts, so home, Desktop and Downloads themselves '
  + 'are refused; a folder below them is fine.'
const another = 'another folder'

/** Folders that are there already are offered where none is saved; null where another is wanted. */
const askFound = async (
  prompter: Prompter, ctx: ShotsContext, now: string | null, samples: SamplesOffer | null,
): Promise<string | null> => {
  const found = now === null ? foundFolders(ctx) : []
  const offers = samples === null ? found : [...found, samples.label]
  if (offers.length === 0) return null
  // Enter alone changes nothing, but in a rehearsal, where made-up ones are there for it.
  const chosen = await prompter.choose(
    'Screenshots lie in:', [...offers, another], samples?.label ?? another)
  return chosen === another ? null : chosen === samples?.label ? samples.folder : chosen
}

const askFolder = async (
  prompter: Prompter, ctx: ShotsContext, now: string | null,
  { home, samples }: { readonly home: string; readonly samples: SamplesOffer | null },
): Promise<Change> => {
  const found = await askFound(prompter, ctx, now, samples)
  if (found !== null) return { screenshot_folder: found }
  const named = fromHome(home, await prompter.text(
    'Screenshot folder (absolute, or from ~):', now ?? '',
    (text) => (text === '' || text === now ? null : refusalOf(() => {
      requireNoWorse(now, judgeFolder(ctx, fromHome(home, text), 'settings'))
    }))))
  return named === '' || named === now ? {} : { screenshot_folder: named }
}

/** What leaves the machine and under which controls; false where a person left it at that. */
const askEgress = async (
  prompter: Prompter, saved: SavedShotSettings, change: Change,
): Promise<boolean> => {
  for (const [name, [word, question]] of Object.entries(asksFor)) {
    if (saved[name as keyof typeof asksFor] === word) continue
    if (!(await prompter.confirm(question))) return false
    change[name] = word
  }
  if (!isStrict(saved) && await prompter.confirm(
    'Refuse fallbacks, data collection and data retention',
  )) Object.assign(change, strictWords)
  return true
}

/** What it means that a limit is not set: without a bound of its own nothing is sent (S-147). */
const unsetText = (field: string): string => (field === 'settle_seconds'
  ? 'leave it unset: all of them' : 'leave it unset: no image leaves')

const askLimits = async (
  prompter: Prompter, saved: SavedShotSettings, change: Change, rehearses: boolean,
): Promise<void> => {
  for (const [field, parts] of Object.entries(limits)) {
    const now = saved[field as keyof typeof limits] ?? null
    const keep = now === null ? unsetText(field) : `keep ${parts.label(now)}`
    const isNeeded = now === null && field !== 'settle_seconds'
    const first = rehearses && isNeeded ? parts.offers[0] : undefined
    const given = await askLimit(prompter, { ...parts, now, keep, first })
    if (given !== undefined) change[field] = given
  }
}

/** Devices that a form asks about. */
interface AskedDevices {
  readonly offered: readonly CapturingDevice[]
  /** Ids of those whose names are in force: of a void one nobody was asked under this consent. */
  readonly named: readonly string[]
}

/** Asks about each device by itself: unless a person says yes, what it uploads stays here. */
const askDevices = async (
  deps: VerbDeps, prompter: Prompter, { offered, named }: AskedDevices,
): Promise<Change> => {
  const open = offered.filter(({ deviceId: id }) => !named.includes(id))
  if (open.length === 0) return {}
  deps.note(`\n${paragraph(deps, devicesText)}\n`)
  const added: string[] = []
  for (const { deviceId: id, deviceName: name } of open) {
    const question = `Let what ${visibleLine(name)} (${id}) uploads from now on leave, too`
    if (await prompter.confirm(question)) added.push(id)
  }
  const kept = offered.map(({ deviceId: id }) => id).filter((id) => named.includes(id))
  return added.length === 0 ? {} : { devices: [...kept, ...added] }
}

/** How long a form may compare images, in ms: what is left then is told as a request. */
const estimateMsMax = 5_000

/** What yesterday came to, or would have, for whoever sets the bounds of a day. */
const tellYesterday = async (deps: VerbDeps, ctx: ShotsContext): Promise<void> => {
  const { estimateYesterday } = await import('../../../shots/estimate/estimate.js')
  const estimate = await estimateYesterday(ctx, estimateMsMax)
  if (estimate === null) return
  const { choicesTable, priceNotes } = await import('./estimate-text.js')
  const one = shotsEstimate.answer(estimate)
  deps.note(`\nYesterday, ${one.day}, ${countText(one.images, 'image')}; with each setting:\n`
    + [await choicesTable(one, deps.view), ...priceNotes(one)].join('\n'))
}

/**
 * The settings as a form. It asks only for what it would add: nothing that is on is switched off
 * by it, and Enter alone keeps what is saved. What leaves the machine is said before it is asked,
 * and the change is shown before it is saved; an empty one is given where nothing changes.
 */
const fillConfigForm = async (
  deps: VerbDeps, ctx: ShotsContext, saved: SavedShotSettings,
  { prompter, rehearses, samples, devices }: {
    readonly prompter: Prompter
    /** Whether the providers are played: what has to be set then has a value under Enter. */
    readonly rehearses: boolean
    readonly samples: SamplesOffer | null
    readonly devices: AskedDevices
  },
): Promise<Change> => {
  deps.note(`${folderText}\n`)
  const change = await askFolder(prompter, ctx, saved.screenshot_folder, {
    home: deps.home, samples,
  })
  deps.note(`\n${paragraph(deps, egressText)}\n`)
  if (await askEgress(prompter, saved, change)) {
    // The day of another folder says nothing of what the new one will cost.
    if (change['screenshot_folder'] === undefined) await tellYesterday(deps, ctx)
    await askLimits(prompter, saved, change, rehearses)
    if (saved.renew_proof !== 'on') {
      deps.note(`\n${paragraph(deps, renewText)}\n`)
      if (await prompter.confirm('Let jobs renew a proof by themselves')) {
        change['renew_proof'] = 'on'
      }
    }
    Object.assign(change, await askDevices(deps, prompter, devices))
  }
  const named = devices.named.length === 0 ? null : devices.named
  const changes = differenceOf({ ...saved, devices: named }, { ...parseSettingsChange(change) })
  if (changes.length === 0) {
    deps.note(nothingChanges)
    return {}
  }
  deps.note(changeText(changes))
  const closed = closedSettings({ ...saved, ...change as Partial<SavedShotSettings> })
  if (closed.length > 0) deps.note(paragraph(deps, `No image leaves then: ${closed.join(' ')}`))
  await requireYes(prompter, 'Save this change')
  return change
}

/**
 * Asks for the settings and saves what a person changed, upon the very settings they were shown.
 * Throws as the save does, and `conflict` `settings_changed` where they changed meanwhile.
 */
export const saveByForm = async (deps: VerbDeps): Promise<ShotsConfig> => {
  const { gov, session } = await workFor(deps, 'mutate')
  const ctx = shotsContext(deps, gov)
  const view = gov.store.read()
  const seen = seenSettings(ctx, view)
  const samples = await samplesOffer(deps, gov, seen.saved.screenshot_folder)
  const rehearses = await rehearsalOf(deps, deploymentProfile(gov.store)) !== null
  const devices = { offered: await offeredDevices(ctx, session), named: namedNow(ctx, view) }
  const asked = await deps.ask('Give the settings as flags: `sallyport shots setup --help`.')
  const change = await untilAgreed(asked, (prompter) =>
    fillConfigForm(deps, ctx, seen.saved, { prompter, rehearses, samples, devices }))
  const made = samples?.folder === change['screenshot_folder'] ? samples : null
  let saved: Pick<ShotsConfig, 'requests'> = {}
  if (Object.keys(change).length > 0) {
    await made?.write()
    saved = await saveShotsConfig(ctx, session, change, seen)
    for (const line of sentBeforeLines(saved.requests ?? [])) deps.note(line)
    tellTyped(deps, [
      ...made === null ? [] : [made.typed], ['shots', 'setup', ...flagsOfChange(change)],
    ])
    const override = overrideNote(ctx, parseSettingsChange(change))
    if (override !== null) deps.note(override)
  }
  return showShotsConfig(ctx, gov.store.read(), saved)
}
