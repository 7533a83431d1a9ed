/** The dependencies of one command: the world, with this run's global flags applied to it. */
import { fail, SallyportError } from '../base/errors.js'
import { toldText } from '../base/told.js'
import { closingsDone } from '../state/place/closings.js'
import type { Problem, Store } from '../state/types.js'
import type { FoldersNamed } from '../fabric/names/look-up.js'
import { requireYes } from './ask-verdict.js'
import { carriedBy, placesOf, type Places } from './places.js'
import type { CliDeps } from './deps.js'
import { damageLine, refusedForDamage, type DamageRule } from './damage.js'
import type { Program, VerbDeps, StoreMode } from './verb.js'
import type { Globals } from './globals.js'
import { notesOn } from './notes.js'
import { tell, viewOf } from './output.js'
import { drawProgress } from './progress.js'
import type { Secrets } from './redact.js'
import { followStopping } from './stopping.js'
import { terminalSafe } from './text.js'

/** Binds the world to one command's global flags. Nothing is opened yet. */
export const bindDeps = (
  deps: CliDeps, globals: Globals, secrets: Secrets, program: Program,
  named: FoldersNamed | null = null,
): VerbDeps => {
  const carried = carriedBy(deps, globals)
  const [progress, interactive] = [drawProgress(deps, globals), canAsk(deps, globals)]
  const [notes, clear] = [notesOn(deps.io, globals.quiet), (): void => progress.clear()]
  const { waits } = followStopping(deps, { globals, secrets, carried, clear })
  const watched = deps.observe(progress)
  const stores = new Map<string, Promise<Store>>()
  let isDialogue = false
  const placed = placesOnce(() => placesOf(deps, globals, named))
  const asked = healthQuestion((line) => bound.note(line))
  const bound: VerbDeps = {
    ...deps,
    ...program,
    globals,
    get places() { return placed() },
    at: () => nameOf(bound),
    secrets,
    carried,
    view: viewOf(deps, globals, carried),
    progress,
    observer: { at: (step) => watched.at(step), waits, counts: (work) => watched.counts?.(work) },
    interactive,
    anchor: 'vouches',
    cut: null,
    // Whoever answered questions sees the result below them, and need not leave a pager first.
    page: async (command, text) => !isDialogue && deps.page(command, text),
    note(line) {
      clear()
      notes.note(terminalSafe(toldText(line, carried)))
    },
    async ask(instead) {
      if (!interactive) {
        throw fail.usage('input_required', 'This needs an answer and nobody can be asked.', {
          next: instead,
        })
      }
      progress.clear()
      if (!isDialogue) await tellName(bound)
      isDialogue = true
      return notes.asking(await deps.prompter(deps.io, !globals.noColor))
    },
    confirm: async (question, flag) =>
      requireYes(await bound.ask(`Give ${flag} to say yes.`), question),
    async openStore(mode = 'read') {
      const open = stores.get(mode) ?? loadStore(bound, mode).then(asked.opened, asked.unopened)
      stores.set(mode, open)
      return open
    },
    heedDamage: asked.heed,
    shownDamage: asked.shown,
    async closeStores() {
      await Promise.allSettled(stores.values())
      stores.clear()
      asked.close()
      await closingsDone()
    },
    async gov(mode = 'read', face = 'cli') {
      const { openForNobody } = await import('./store.js')
      return openForNobody(bound, mode, face)
    },
    async login(mode = 'read', options) {
      const { openForOperator } = await import('./store.js')
      return openForOperator(bound, mode, options)
    },
  }
  return bound
}

/** Decided once: a name that is given to another state meanwhile changes no run. */
const placesOnce = (decide: () => Places): (() => Places) => {
  let places: Places | undefined
  return () => (places ??= decide())
}

const nameOf = async (bound: VerbDeps): Promise<string | null> => {
  const { nameInForce } = await import('../fabric/names/look-up.js')
  return nameInForce(bound)
}

/** Says which state a person is asked about, where it has a name; also with --quiet. */
const tellName = async ({ io, at }: VerbDeps): Promise<void> => {
  const name = await at()
  if (name !== null) tell(io, `State: ${name}`)
}

const canAsk = ({ io: { terminal } }: CliDeps, { noInput }: Globals): boolean =>
  !noInput && terminal.stdout && terminal.stdin

/** Asks each store that is opened for its health, once, and heeds the rule of the verb. */
const healthQuestion = (note: (line: string) => void) => {
  let rule: DamageRule = 'refuses'
  let unopened: Problem | null = null
  const opened: Store[] = []
  return {
    heed: (given: DamageRule): void => void (rule = given),
    opened: (store: Store): Store => {
      const { damage } = store.health()
      if (damage !== null && rule === 'refuses') {
        store.close()
        throw refusedForDamage(damage)
      }
      if (damage !== null && rule === 'decides') note(damageLine(damage))
      opened.push(store)
      return store
    },
    /** So damaged that nothing opens: a verb that shows something all the same says so, too. */
    unopened: (error: unknown): never => {
      if (error instanceof SallyportError && error.kind === 'damaged') {
        unopened = { severity: 'damage', code: error.code, message: error.message }
      }
      throw error
    },
    shown: (): Problem | null => {
      if (rule !== 'shows') return null
      return opened.map((store) => store.health().damage).find((found) => found !== null)
        ?? unopened
    },
    close: (): void => {
      for (const store of opened.splice(0)) {
        try {
          store.close()
        } catch {
          // What was to be durable is; a descriptor that does not close changes nothing of it.
        }
        for (const { code, message } of store.health().notices) note(`${code}: ${message}`)
      }
    },
  }
}

const loadStore = async (deps: VerbDeps, mode: StoreMode): Promise<Store> => {
  const { openCliStore } = await import('./store.js')
  return openCliStore(deps, mode)
}
