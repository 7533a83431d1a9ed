/** `sallyport state destroy`: a state for good, as a person who typed its name decides. */
import { basename } from 'node:path'
import { countText } from '../../../base/counted.js'
import { SallyportError } from '../../../base/errors.js'
import {
  openSumRange, stateDestroy, type OpenSum, type StateDestroyDocument, type Stays,
} from '../../../fabric/destroy/destroy-contract.js'
import type { DestroySite } from '../../../fabric/destroy/look.js'
import { isOpen, openText, requireNamed, type Acknowledged } from '../../../fabric/destroy/rules.js'
import { noTimerStatus } from '../../../fabric/timers/timers-contract.js'
import { moneyFlag } from '../../flags.js'
import { tell, type View } from '../../output.js'
import type { Prompter } from '../../prompt.js'
import { requestOf } from '../../request.js'
import { bytesText } from '../../text.js'
import type { LineOf, VerbDeps, VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'
import { foundTimers } from '../timers/found-timers.js'
import { siteOf } from './site.js'

type DestroyLine = LineOf<typeof stateDestroy>

/** Kinds of rows that are named; the others are counted. */
const kindsMax = 8

const rowsText = ({ rows }: StateDestroyDocument): string => {
  if (rows.length === 0) return ''
  const named = rows.slice(0, kindsMax).map(({ collection, count }) => `${count} ${collection}`)
  const rest = rows.slice(kindsMax).reduce((sum, { count }) => sum + count, 0)
  return `rows       ${[...named, ...(rest === 0 ? [] : [`${rest} others`])].join(', ')}\n`
}

const goneText = (found: StateDestroyDocument): string => [
  rowsText(found),
  found.begun_at === null ? `keys       ${countText(found.keys, 'sealed key')}\n` : '',
  `artifacts  ${countText(found.artifacts, 'sealed file')}, ${bytesText(found.artifact_bytes)}\n`,
  `files      ${found.files} in all, ${bytesText(found.bytes)}\n`,
].join('')

const staysText = ({ text, where, command }: Stays, view: View): string => [
  `${text}${command === null ? '' : ` ${view.command(command.replace(/^sallyport /, ''))}`}\n`,
  ...where.map((one) => `  ${view.foreign(one)}\n`),
].join('')

const openLine = (open: OpenSum | null): string =>
  (open === null || !isOpen(open) ? '' : `Open: ${openText(open)}.\n`)

const destroyText = (found: StateDestroyDocument, view: View): string => [
  `${found.dry_run ? 'Would destroy' : 'Destroyed'} ${view.foreign(found.name)} at `
    + `${view.foreign(found.state_dir)}\n`,
  goneText(found), openLine(found.open),
  found.dry_run ? 'What would stay:\n' : 'What stays:\n',
  ...found.stays.map((one) => staysText(one, view)),
].join('')

/** Timers of this state by their entries; null where nobody can say. */
const timersOf = async (deps: VerbDeps): Promise<readonly string[] | null> => {
  try {
    return (await foundTimers(deps, noTimerStatus)).entries
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'cancelled') throw error
    return null
  }
}

const placeOf = async (deps: VerbDeps): Promise<DestroySite> => {
  const { stateDir, configDir } = deps.places
  const named = await deps.at()
  return {
    configDir, name: named ?? basename(stateDir),
    around: { name: named, timers: await timersOf(deps) },
  }
}

/** Who is asked: nobody where the line acknowledges. Throws where it does not and nobody can be. */
const askedBy = async (
  deps: VerbDeps, { acknowledgedDestroy: typed, dryRun }: DestroyLine, { name }: DestroySite,
): Promise<Prompter | null> => {
  if (dryRun === true) return null
  if (typed === undefined) {
    return deps.ask('Give --acknowledged-destroy NAME, with the name of the state.')
  }
  requireNamed(name, typed)
  return null
}

/** What a line acknowledges, or a person who was shown what would go. */
const acknowledged = async (
  deps: VerbDeps, { acknowledgedOpenMicrousd: sum }: DestroyLine, prompter: Prompter | null,
  found: StateDestroyDocument,
): Promise<Acknowledged | undefined> => {
  if (prompter === null) return sum === undefined ? undefined : { microusd: sum }
  deps.progress.clear()
  // Also with --quiet: nobody is asked about what was not shown.
  tell(deps.io, destroyText(found, deps.view).trimEnd())
  const { open } = found
  if (sum === undefined && open !== null && isOpen(open)) {
    await deps.confirm(`Lose sight of ${openText(open)}?`, '--acknowledged-open USD')
  }
  requireNamed(found.name, await prompter.text(`Type ${found.name} to destroy it for good:`))
  return open === null ? undefined : { microusd: sum ?? open.microusd, effects: open.effects }
}

/** One run, and who is asked in it. */
interface Asked {
  readonly line: DestroyLine
  readonly place: DestroySite
  readonly prompter: Prompter | null
}

const destroyBegun = async (
  deps: VerbDeps, { line, place, prompter }: Asked,
): Promise<StateDestroyDocument | null> => {
  const { begunAt, destroyRest, lookAtRest } = await import('../../../fabric/destroy/destroy.js')
  const begun = begunAt(deps.places.stateDir)
  if (begun === null) return null
  const found = lookAtRest(deps.places.stateDir, begun, place)
  if (line.dryRun === true) return found
  await acknowledged(deps, line, prompter, found)
  return destroyRest(siteOf(deps), begun, place)
}

const destroyOpen = async (
  deps: VerbDeps, { line, place, prompter }: Asked,
): Promise<StateDestroyDocument> => {
  const { gov: seen } = await deps.login('see')
  const { lookAtState } = await import('../../../fabric/destroy/look.js')
  const found = await lookAtState(seen, place)
  if (line.dryRun === true) return found
  const open = await acknowledged(deps, line, prompter, found)
  const { gov, session } = await workFor(deps, 'mutate')
  const { destroyWhole } = await import('../../../fabric/destroy/destroy.js')
  return destroyWhole(gov, session, siteOf(deps), place, open)
}

export const destroy: VerbRecord<DestroyLine, StateDestroyDocument> = {
  summary: 'remove a whole state for good',
  description:
    'Shows what would go and what stays, and asks you to type the name of the state. That is its '
    + 'name in `at`, else the last part of its path. Then it stops every route and waits for what '
    + 'is under way. It removes every file that Sallyport made in the directory, of all owners. '
    + 'Where charges or effects are open it refuses, unless you acknowledge their sum. Key and '
    + 'anchor stay: a backup that is restored later holds the whole ceiling. Screenshots, and '
    + 'files of others in the directory, are not touched; no link is followed. Cut off, it leaves '
    + 'a whole state or one that no command opens: the same line goes on then, without a login.',
  examples: [
    '$ sallyport state destroy --dry-run',
    '$ sallyport state destroy',
    '$ sallyport state destroy --at trial --acknowledged-destroy trial --json',
  ],
  decides: true,
  exits: ['rejected', 'blocked', 'locked', 'cancelled'],
  json: stateDestroy,
  flags: (command) => command
    .option('--acknowledged-destroy <name>', 'do not ask: the name of the state that is to go')
    .addOption(moneyFlag(
      '--acknowledged-open-microusd <n>', 'what its open charges hold', openSumRange))
    .option('--dry-run', 'tell what would go, and change nothing'),
  text: destroyText,
  run: async (line, deps) => {
    requestOf(stateDestroy, line)
    const place = await placeOf(deps)
    const asked = { line, place, prompter: await askedBy(deps, line, place) }
    return stateDestroy.answer(await destroyBegun(deps, asked) ?? await destroyOpen(deps, asked))
  },
}
