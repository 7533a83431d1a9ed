/** Commands that close something while a picture leaves, for tests and loops. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { holdWrites, type HeldWrites } from './net/held-writes.js'
import { forImages, slotFlags } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, Teardown } from '../world/place.js'
import { World, type AlphaWorld, type AnalysisWorld } from '../world/world.js'
import type { Working } from './codehost/working.js'
import { must } from './must.js'
import { greyPng } from './png.js'
import { rowOf, scan, set } from './shots.js'

/** A picture that nothing compresses, of several pieces of a request. */
export const largeImage = (): Buffer => {
  const noise = randomBytes(700 * 500)
  return greyPng(700, 500, (x, y) => noise[y * 700 + x] ?? 0)
}

/** A command that closes what a picture is sent through, and how it is opened again. */
export interface Narrowing {
  readonly close: (world: AnalysisWorld) => readonly string[] | Promise<readonly string[]>
  readonly open: (world: AnalysisWorld) => Promise<unknown>
  /** Settings beside the usual ones that the picture is sent under. */
  readonly settings?: readonly string[]
  /** It closes no switch and no consent: a reply that was paid for whole is used. */
  readonly keeps?: true
  /** The folder below that of the images where the picture lies. */
  readonly below?: string
}

const config = (...flags: string[]): readonly string[] =>
  ['shots', 'config', 'set', '--json', ...flags]

/** Each of them by its line. */
export const imageNarrowings: Readonly<Record<string, Narrowing>> = {
  'shots config set --cloud-upload off': {
    close: () => config('--cloud-upload', 'off'),
    open: (world) => set(world, '--cloud-upload', 'on'),
  },
  'shots config set --analysis off': {
    close: () => config('--analysis', 'off'),
    open: (world) => set(world, '--analysis', 'on'),
  },
  'shots config set --fallbacks allow': {
    close: () => config('--fallbacks', 'allow'),
    open: (world) => set(world, '--fallbacks', 'deny'),
  },
  'shots config set --unset zdr': {
    close: () => config('--unset', 'zdr'),
    open: (world) => set(world, '--zdr', 'on'),
  },
  'shots config set --folder OTHER': {
    close: (world) => config('--folder', world.place.path('elsewhere')),
    open: (world) => set(world, '--folder', world.folder),
  },
  'shots config set --recursive off': {
    close: () => config('--recursive', 'off'),
    open: (world) => set(world, '--recursive', 'on'),
    settings: ['--recursive', 'on'],
    below: 'below',
  },
}

const gateway = (...flags: string[]): readonly string[] =>
  ['gateway', 'setup', '--json', '--void-answers', ...flags]

const screenshotSlot = slotFlags('screenshot', 'gateway.vision')

let keys = 0

/** The same for the saves of the route that it goes through. */
export const routeNarrowings: Readonly<Record<string, Narrowing>> = {
  'gateway setup --disable': {
    close: () => gateway('--disable'),
    open: (world) => must(world.widen(['--enable', '--consent', 'gateway.vision'])),
  },
  'gateway setup --remove-slot screenshot': {
    close: () => gateway('--remove-slot', 'screenshot'),
    open: (world) => must(world.widen(screenshotSlot)),
  },
  'gateway setup --upstream-allow FEWER': {
    close: () => gateway('--slot', 'screenshot', '--upstream-allow', 'acme-host'),
    open: async (world) => {
      must(await world.widen(screenshotSlot))
      must(await world.prove('screenshot'))
    },
  },
  'gateway setup --api-key-file OTHER': {
    close: async (world) => {
      const file = world.place.write('other-key', `ANOTHER-KEY-${keys += 1}-0123456789\n`)
      return gateway('--api-key-file', file, '--acknowledge-cloud-egress',
        '--expected-policy-revision', String((await world.show()).policy_revision))
    },
    open: (world) => must(world.prove('screenshot')),
    keeps: true,
  },
}

/** A save that closes the text route. */
export interface AskNarrowing {
  readonly close: (rig: AlphaWorld) => readonly string[] | Promise<readonly string[]>
  /** As of a picture. */
  readonly keeps?: true
}

/** Each of them by its line; the usual set-up opens it again. */
export const askNarrowings: Readonly<Record<string, AskNarrowing>> = {
  'alpha setup --disable': { close: () => ['alpha', 'setup', '--disable', '--json'] },
  'alpha setup --api-key-file OTHER': {
    close: async ({ place, revision }) => [
      'alpha', 'setup', '--json', '--acknowledge-plaintext-egress',
      '--api-key-file', place.write('key', `MARK-KEY-${keys += 1}-9876543210\n`),
      '--expected-policy-revision', String(await revision()),
    ],
    keeps: true,
  },
  'config save of a disabled route': {
    close: ({ place }) => ['config', 'save', '--json', '--from',
      place.write('disabled.json', JSON.stringify({ alpha_text: { enabled: false } }))],
  },
}

/** Commands that take writes through a connection back, each by its line. */
export const creationNarrowings: Readonly<
  Record<string, (at: Working, job: string) => readonly string[]>
> = {
  'codehost connect --token-file OTHER': (at) => ['codehost', 'connect', '--json', '--connection',
    at.id, '--token-file', at.place.write('other-token', `MARK-token-${keys += 1}-0123456789\n`),
    '--expected-revision', String(at.connection().revision)],
  'codehost mode disabled': (at) => ['codehost', 'mode', at.id, 'disabled', '--json'],
  'codehost mode reconcile_only': (at) => ['codehost', 'mode', at.id, 'reconcile_only', '--json'],
  'codehost revoke': (at) => ['codehost', 'revoke', at.id, '--json'],
  'codehost cancel': (_at, job) => ['codehost', 'cancel', job, '--json'],
}

/** Makes the folders of a narrowing and saves the settings that its picture is sent under. */
export const prepareNarrowing = async (
  world: AnalysisWorld, { settings, below = '.' }: Narrowing,
): Promise<void> => {
  for (const path of [world.place.path('elsewhere'), join(world.folder, below)]) {
    mkdirSync(path, { recursive: true })
  }
  if (settings !== undefined) await set(world, ...settings)
}

/** A world in which pictures may leave. */
export const leavingPicture = (
  t: Teardown, outside: Parameters<ReturnType<typeof World.in>['sandbox']>[0] = {},
): Promise<AnalysisWorld> =>
  Promise.resolve(World.in(t).sandbox(outside).state().session()
    .gateway(forImages).images(allowed).proof('screenshot'))

/** What every request about a picture of a screen holds. */
export const analysisMark = 'svc_screenshot_analysis_v1'

let number = 0

/** What became of a picture that was under way when a command closed what it goes through. */
export interface Closed {
  readonly name: string
  readonly closed: Ran
  readonly analyzed: Ran
  /** Bytes that were handed to the system once the command had answered. */
  readonly leftAfter: number
  readonly leftBefore: number
}

/** When the command comes, and what goes on meanwhile. */
export interface Leaving {
  /** Whether the next write goes on, of which so many have; asked again and again. */
  readonly opened: (left: number) => boolean
  /** The command comes then. */
  readonly begun: (writes: HeldWrites) => Promise<void>
  /** It has answered. */
  readonly answered?: () => void
}

/**
 * Sends a picture and closes what it is sent through meanwhile; what is held back goes on once the
 * command has answered.
 */
export const closeWhileLeaving = async (
  world: AnalysisWorld, { close, below = '.' }: Narrowing, leaving: Leaving,
): Promise<Closed> => {
  const name = join(below, `leaving-${number += 1}.png`)
  world.file(name, largeImage())
  await scan(world)
  let undo = (): void => undefined
  const writes: HeldWrites = holdWrites(
    { teardown: (done) => { undo = done } }, () => leaving.opened(writes.left.length),
  )
  const analyzing = world.run(['shots', 'analyze', '--json'])
  await leaving.begun(writes)
  const closed = await world.run([...await close(world)])
  const answeredMs = performance.now()
  leaving.answered?.()
  writes.go()
  const analyzed = await analyzing
  undo()
  const bytes = (after: boolean): number => writes.left
    .filter(({ atMs }) => (atMs > answeredMs) === after).reduce((sum, one) => sum + one.bytes, 0)
  return { name, closed, analyzed, leftAfter: bytes(true), leftBefore: bytes(false) }
}

/** What the money of a picture's newest call stands at. */
export const chargeOf = (world: AnalysisWorld, name: string): string | undefined =>
  findReservation(world.view(), rowOf(world, name).analyzer.operation_id ?? '')?.state

/** Settles what a cut upload left unknown, as a person would who looked it up. */
export const settleUnknown = async (world: AnalysisWorld, name: string): Promise<void> => {
  const operation = rowOf(world, name).analyzer.operation_id
  if (operation === null || chargeOf(world, name) !== 'unknown') return
  must(await world.run(['ledger', 'settle', operation, '--amount-microusd', '0', '--yes']))
}
