/**
 * Kills scans at every step and at any moment, again and again, over folders of their own: after
 * the kill the next scan must give exactly the observations that an undisturbed scan gives, none
 * lost and none doubled, the receipts must chain and the state must be whole.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../../src/base/canonical.js'
import { receiptIdOf } from '../../../src/shots/receipts/append.js'
import { receiptCollections } from '../../../src/shots/receipts/receipt-rows.js'
import { shotCollections as c } from '../../../src/shots/observations/observation-rows.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import { must } from '../must.js'
import { after } from '../observations.js'
import { greyPng } from '../png.js'
import type { Place, Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

/** Every step that a scan announces. */
export const scanSteps = [
  'scan.walked', 'scan.read', 'scan.writing', 'scan.batch', 'scan.written', 'scan.done',
] as const

/** How many files a folder has: more than one batch. */
const filesPerFolder = 60
const shareOfCopies = 6
const shareOfLookAlikes = 5

/** What the rounds showed. */
export interface ScanKillReport {
  readonly rounds: number
  readonly killed: number
  /** Killed rounds by the step at which they were to stop. */
  readonly steps: Readonly<Record<string, number>>
  /** Rules that were broken; empty when all is well. */
  readonly broken: readonly string[]
}

const start = Date.UTC(2026, 10, 20, 10)

/** Distinct pictures, copies of an earlier one, and look-alikes of the one before. */
const fill = (folder: string, round: number): void => {
  mkdirSync(folder)
  let last = 0
  for (let i = 0; i < filesPerFolder; i += 1) {
    const copy = i > 0 && i % shareOfCopies === 0
    const like = i > 0 && i % shareOfLookAlikes === 0 && !copy
    if (!copy && !like) last = round * filesPerFolder + i
    const path = join(folder, `${String(i).padStart(3, '0')}.png`)
    writeFileSync(path, greyPng(64, 48, last, like ? 1 : 6))
    const at = new Date(start + i * 1000)
    utimesSync(path, at, at)
  }
}

/** What must be the same after a kill: what each file became, by name. */
const outcomesOf = (view: View, folder: string): string[] => {
  const digest = view.all(c.folders).find(({ doc }) => doc.root === folder)?.doc.root_digest
  return view.all(c.files).map(({ doc }) => doc).filter((doc) => doc.root_digest === digest)
    .map((doc) => `${doc.name.text} ${doc.outcome} ${doc.reason ?? ''} ${doc.sha256 ?? ''}`).sort()
}

const observationsOf = (view: View, folder: string): string[] =>
  view.all(c.observations).map(({ doc }) => doc).filter((doc) => doc.root === folder)
    .map((doc) => JSON.stringify([
      doc.sha256, doc.captured_at, doc.paths, doc.screenshot_visual_run,
    ])).sort()

class Deployment {
  readonly broken: string[] = []
  readonly steps: Record<string, number> = {}
  killed = 0

  constructor(readonly place: Place) {}

  #view<T>(use: (view: View) => T): T {
    const { stateDir: dir, configDir } = this.place
    const store = openStore({ dir, configDir, mode: 'read' })
    try {
      return use(store.read())
    } finally {
      store.close()
    }
  }

  async #scan(
    folder: string, env: Record<string, string> = {}, onChild?: (child: ChildProcess) => void,
  ) {
    return this.place.spawn(['shots', 'scan', '--json', '--folder', folder], {
      entry: 'test', env, coverage: false, ...(onChild === undefined ? {} : { onChild }),
    })
  }

  #expect(what: string, ok: boolean): void {
    if (!ok) this.broken.push(what)
  }

  /** The folder that nobody disturbs: every other one is filled alike and must end alike. */
  async calm(): Promise<void> {
    const calm = this.place.path('calm')
    fill(calm, 0)
    const clean = await this.#scan(calm)
    this.#expect(`the calm scan ended with ${clean.status}`, clean.status === 0)
  }

  /** One scan that is killed, and one after it that is not. */
  async round(number: number): Promise<void> {
    const hurt = this.place.path(`hurt${number}`)
    fill(hurt, number + 1)
    await this.#kill(number, hurt)
    const again = await this.place.run(['shots', 'scan', '--json', '--folder', hurt])
    this.#expect(`round ${number}: the scan after the kill ended with ${again.status}`,
      again.status === 0)
    this.#judge(number, this.place.path('calm'), hurt)
    rmSync(hurt, { recursive: true })
  }

  async #kill(number: number, folder: string): Promise<void> {
    const step = scanSteps[number % scanSteps.length] ?? 'scan.read'
    // Once through the steps, then as many rounds at any moment, and so on.
    const timed = Math.floor(number / scanSteps.length) % 2 === 1
    const steps = this.place.path('steps')
    rmSync(steps, { force: true })
    const nth = step === 'scan.read' ? 1 + (number * 7) % filesPerFolder
      : step === 'scan.writing' ? 1 + number % 2 : 1
    const env: Record<string, string> = timed
      ? { TEST_STEPS_FILE: steps } : { TEST_STOP_AT: `${step}#${nth}`, TEST_STEPS_FILE: steps }
    const ran = await this.#scan(folder, env, (child) => {
      if (!timed) return
      const wait = setInterval(() => {
        if (!existsSync(steps) || readFileSync(steps, 'utf8').length < (number * 13) % 700) return
        clearInterval(wait)
        child.kill('SIGKILL')
      }, 1)
      child.once('exit', () => clearInterval(wait))
    })
    if (ran.status === 137) this.killed += 1
    const name = timed ? 'timed' : step
    this.steps[name] = (this.steps[name] ?? 0) + 1
  }

  #judge(number: number, calm: string, hurt: string): void {
    this.#view((view) => {
      const files = outcomesOf(view, hurt)
      const shape = (rows: string[]): string =>
        rows.map((row) => row.split(' ').slice(0, 3).join(' ')).join()
      this.#expect(`round ${number}: files became something else`,
        files.length === filesPerFolder && shape(files) === shape(outcomesOf(view, calm)))
      const [one, other] = [observationsOf(view, calm), observationsOf(view, hurt)]
      this.#expect(`round ${number}: ${other.length} observations instead of ${one.length}`,
        one.length === other.length)
      const hashes = new Set(other.map((row) => (JSON.parse(row) as string[])[0]))
      this.#expect(`round ${number}: an image twice`, hashes.size === other.length)
    })
  }

  /** The receipts are one chain and the state is whole. */
  async end(): Promise<void> {
    this.#view((view) => {
      const head = view.get(receiptCollections.head, 'the')
      let previous: string | null = null
      for (let at = 1; at <= (head?.number ?? 0); at += 1) {
        const receipt = view.get(receiptCollections.receipts, receiptIdOf(at))
        this.#expect(`receipt ${at} does not follow`, receipt?.previous_sha256 === previous)
        previous = digestOf(receipt)
      }
      this.#expect('the head is another receipt', head?.sha256 === previous)
    })
    const check = await this.place.run(['state', 'check', '--json'])
    this.#expect(`state check: ${check.stdout}${check.stderr}`, check.status === 0)
  }
}

/** Kills scans for so many rounds. Folders go with `t`. */
export const killScans = async (t: Teardown, rounds: number): Promise<ScanKillReport> => {
  const place = World.in(t).place
  await place.run(['init', '--json'])
  const deployment = new Deployment(place)
  await deployment.calm()
  for (let number = 0; number < rounds; number += 1) await deployment.round(number)
  await deployment.end()
  const { killed, steps, broken } = deployment
  return { rounds, killed, steps, broken }
}

/** A small picture, another one for each number. */
export const distinctImage = (i: number): Buffer =>
  greyPng(4, 4, (x, y) => (y === 0 ? (i >> (8 * x)) & 255 : 90))

/** Scans so many distinct files at once, and once more without the index; gives both receipts. */
export const scanMany = async (t: Teardown, files: number) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < files; i += 1) world.file(`${i}.png`, distinctImage(i), after(i * 2_000_000))
  const first = must(await world.place.spawn(
    ['shots', 'scan', '--json', '--limit', String(files)], { coverage: false },
  )).json()
  rmSync(join(world.place.stateDir, 'run/shots'), { recursive: true })
  return { first, again: (await world.run(['shots', 'scan', '--json'])).json() }
}

const many = 10_000

/** The long loop, and ten thousand files at once. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => void)[] = []
  try {
    const { first, again } = await scanMany({ teardown: (done) => void undo.push(done) }, many)
    const taken = `${first.ingested} of ${many} files taken at once, ${again.known} known again`
    process.stdout.write(`${taken}\n`)
    if (first.ingested !== many || again.known !== many) throw new Error(taken)
    const report = await killScans({ teardown: (done) => void undo.push(done) }, rounds)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) done()
  }
}
