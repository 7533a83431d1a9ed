/** The dependencies of one command: the world, with this run's global flags applied to it. */
import { fail, SallyportError } from '../base/errors.js'
import type { Observer } from '../base/observer.js'
import type { AnchorRule } from '../fabric/open-work.js'
import type { Face, Gov } from '../governance/context.js'
import type { Session } from '../governance/session/types.js'
import type { Problem, Store } from '../state/types.js'
import type { CliDeps } from './deps.js'
import type { Cutting } from './cut.js'
import { damageLine, refusedForDamage } from './damage.js'
import type { DamageRule } from './damage.js'
import type { CommandTable } from './entry.js'
import type { Globals } from './globals.js'
import { tell, viewOf } from './output.js'
import type { View } from './output.js'
import { placesOf } from './places.js'
import type { Places } from './places.js'
import { drawProgress } from './progress.js'
import type { Progress } from './progress.js'
import type { Prompter } from './prompt.js'
import type { Secrets } from './redact.js'
import { followStopping } from './stopping.js'
import { terminalSafe } from './text.js'

/** The program itself, for verbs that describe it or run lines of it. */
export interface Program {
  readonly commands: CommandTable
  /** Runs another line, with its own dependencies; gives its exit status. */
  again(deps: CliDeps): Promise<number>
}

/** What a verb works with. */
export interface VerbDeps extends CliDeps, Program, Cutting {
  readonly globals: Globals
  /** State and key folders; throws where they cannot be decided. */
  readonly places: Places
  readonly secrets: Secrets
  readonly view: View
  readonly progress: Progress
  /** Where use cases announce their steps. */
  readonly observer: Observer
  /** Whether a person can be asked: stdin and stdout are terminals and `--no-input` is absent. */
  readonly interactive: boolean
  /** What the verb asks of the anchor of a state; all of it until the line has named a verb. */
  anchor: AnchorRule
  /** Somebody to ask. Throws `usage` `input_required`, naming `instead`, where nobody can be. */
  ask(instead: string): Promise<Prompter>
  /**
   * Asks whether to go on; returns only on yes. Throws `cancelled` on no, and `usage` where nobody
   * can be asked, naming the flag that says yes.
   */
  confirm(question: string, flag: string): Promise<void>
  /**
   * The open store, the same one each time in one mode. Throws `no_state` where there is none.
   * `read` takes no lock and changes no byte.
   */
  openStore(mode?: StoreMode): Promise<Store>
  /** Says what the verb of this run does at damage; every store is asked when it is opened. */
  heedDamage(rule: DamageRule): void
  /** Damage of what was opened, for verbs that show what is left; null for all others. */
  shownDamage(): Problem | null
  /** Closes what was opened; a log that this run made long is folded then. Never throws. */
  closeStores(): Promise<void>
  /**
   * The open store with clock and observer, for use cases. `face` is `job` where a scheduler and
   * not a person gives the orders. Recovery is `mutate.ts`'s.
   */
  gov(mode?: StoreMode | 'see', face?: Face): Promise<Gov>
  /** The same, and the operator who is logged in. Throws `unauthorized`. */
  login(
    mode?: StoreMode | 'see', options?: LoginOptions,
  ): Promise<{ readonly gov: Gov; readonly session: Session }>
}

/**
 * `read` (the default) never takes the lock, changes no byte and loads no lock add-on. `alone`
 * writes its own record and changes nothing else (see `WorkMode`).
 */
export type StoreMode = 'read' | 'write' | 'alone'

/** How a login is used. */
export interface LoginOptions {
  /** False for verbs that must not refresh the last use. */
  readonly touch?: boolean
}

/** Binds the world to one command's global flags. Nothing is opened yet. */
export const bindDeps = (
  deps: CliDeps, globals: Globals, secrets: Secrets, program: Program,
): VerbDeps => {
  const progress = drawProgress(deps, globals)
  const interactive =
    !globals.noInput && deps.io.terminal.stdout && deps.io.terminal.stdin
  const { waits } = followStopping(deps, { globals, secrets, clear: () => progress.clear() })
  const watched = deps.observe(progress)
  const stores = new Map<string, Promise<Store>>()
  let isDialogue = false
  const asked = healthQuestion((line) => bound.note(line))
  const bound: VerbDeps = {
    ...deps,
    ...program,
    globals,
    get places() { return placesOf(deps, globals) },
    secrets,
    view: viewOf(deps, globals),
    progress,
    observer: {
      at: (step) => watched.at(step), waits, counts: (work) => watched.counts?.(work),
    },
    interactive,
    anchor: 'vouches',
    cut: null,
    // Whoever answered questions sees the result below them, and need not leave a pager first.
    page: async (command, text) => !isDialogue && deps.page(command, text),
    note(line) {
      progress.clear()
      if (!globals.quiet) tell(deps.io, terminalSafe(line))
    },
    async ask(instead) {
      if (!interactive) {
        throw fail.usage('input_required', 'This needs an answer and nobody can be asked.', {
          next: instead,
        })
      }
      progress.clear()
      isDialogue = true
      return deps.prompter(deps.io, !globals.noColor)
    },
    async confirm(question, flag) {
      const prompter = await bound.ask(`Give ${flag} to say yes.`)
      if (!(await prompter.confirm(question))) {
        throw fail.cancelled('declined', 'Declined; nothing was changed.')
      }
    },
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
