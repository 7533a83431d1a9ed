/** A publication whose local work is made by the real supervisor, with the real git or another. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256Hex } from '../../../src/base/canonical.js'
import { loadEvidence } from '../../../src/codehost/producer/evidence.js'
import { runProducer } from '../../../src/codehost/producer/launch.js'
import type { ProducerRun } from '../../../src/codehost/producer/launch.js'
import { manifestOf } from '../../../src/codehost/producer/manifest.js'
import { judgeProducer } from '../../../src/codehost/producer/proof.js'
import type { ProducerVerdict } from '../../../src/codehost/producer/proof.js'
import type {
  ProducerBinding, ProducerJob, StartRecord,
} from '../../../src/codehost/producer/shapes.js'
import { createStage, stagePath } from '../../../src/codehost/producer/stage.js'
import { producerToken } from '../../../src/codehost/producer/token.js'
import { findTools } from '../../../src/codehost/producer/tools.js'
import type { ProducerTools } from '../../../src/codehost/producer/tools.js'
import { newId } from '../../../src/base/ids.js'
import { emptyTree } from '../../../src/codehost/git/tree.js'
import type { GitTree } from '../../../src/codehost/git/tree.js'
import { planPublication } from '../../../src/codehost/plan/publication.js'
import type { PublicationPlan } from '../../../src/codehost/plan/publication.js'
import { readSource, sourceLabel } from '../../../src/codehost/source/read-folder.js'
import { holdGuard, isHeld } from '../../../src/state/holds/guard.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { ArtifactRef, PackReader, Store } from '../../../src/state/types.js'
import type { Teardown } from '../../world/place.js'
import { until } from '../until.js'
import { publication } from './publication.js'

/** Where the built programs lie. */
export const programs = (): string => process.env['SALLYPORT_TEST_APP'] ?? ''

/** The producer's program that can be stopped at each step. */
export const observed = (): string => join(programs(), 'producer-observed.js')
/** The one that is shipped. */
export const shipped = (): string => join(programs(), 'producer.js')

/** What a producer is made for. */
export interface Produced {
  readonly dir: string
  readonly stateDir: string
  readonly store: Store
  readonly plan: PublicationPlan
  readonly binding: ProducerBinding
  readonly job: ProducerJob
  /** Everything that a run takes but the guard. */
  readonly run: Omit<ProducerRun, 'guard'>
  readonly stage: string
  /** Runs it in this process. */
  start(over?: Partial<ProducerRun>): Promise<ProducerVerdict>
  /** What the stage says now. */
  verdict(): ProducerVerdict
  /** Whether somebody holds the job's guard. */
  held(): boolean
}

/** What differs from the usual. */
export interface Producing {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Or a folder that is there. */
  readonly source?: string
  readonly base?: GitTree
  readonly helper?: string
  /** A script that stands for git. */
  readonly git?: string
  readonly observe?: object
  /** Other tools than those of this machine. */
  readonly tools?: (found: ProducerTools, dir: string) => ProducerTools
}

let found: Promise<ProducerTools> | undefined

const toolsWith = async (
  { helper = shipped(), git }: Producing, dir: string,
): Promise<ProducerTools> => {
  const tools = await (found ??= findTools({ helper: shipped() }))
  const program = { path: helper, sha256: sha256Hex(readFileSync(helper)) }
  if (git === undefined) return { ...tools, helper: program }
  const path = join(dir, 'git-of-test')
  writeFileSync(path, git)
  chmodSync(path, 0o755)
  return { ...tools, helper: program, git: { path, version: '2.99', sha256: sha256Hex(git) } }
}

const writeSource = (dir: string, files: NonNullable<Producing['files']>): void => {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), bytes)
  }
}

const usual = {
  'README.md': '# Notes\n', 'src/one.ts': 'export const one = 1\n', 'src/empty': '',
  'src.d/binary': Buffer.from([0, 1, 2, 255]), 'src-b': 'beside\n',
}

/** Reads, plans, seals and binds a publication of some files. */
export const producing = async (how: Producing = {}): Promise<Produced> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-producer-'))
  const [stateDir, source] = [join(dir, 'state'), how.source ?? join(dir, 'source')]
  mkdirSync(source, { recursive: true })
  if (how.source === undefined) writeSource(source, how.files ?? usual)
  const store = createStore({ dir: stateDir, configDir: join(dir, 'config'), profile: {} })
  const base = how.base ?? emptyTree
  const draft = await readSource({
    dir: source, base, artifacts: store.artifacts, ownFolders: [stateDir],
  })
  const input = publication({
    files: draft.files, base: { branch: 'main', commit: '1'.repeat(40), tree: base },
  })
  const plan = planPublication(input)
  const ref = draft.seal()
  const commit = { ...input.commit, tree: plan.tree.id, parents: [input.base.commit] }
  const manifest = manifestOf(plan, base, commit)
  const job: ProducerJob = {
    job_id: newId('job'), root_id: 'root', attempt: 1, authority: 'a', fence: 1,
  }
  const tokenOf = (id: string): string => producerToken(store, id)
  const own = await toolsWith(how, dir)
  const tools = how.tools?.(own, dir) ?? own
  const binding = createStage(stateDir, { tools, job, manifest, commit, tokenOf })
  if (how.observe !== undefined) {
    writeFileSync(join(stateDir, 'observe.json'), JSON.stringify(how.observe))
  }
  const token = tokenOf(binding.producer_id)
  const piecesOf = piecesIn(store, ref)
  const run = { binding, job, manifest, token, piecesOf }
  writeFileSync(join(dir, 'run.json'), JSON.stringify({ binding, job, manifest, ref }))
  return {
    dir, stateDir, store, plan, binding, job, run, stage: stagePath(stateDir, job.job_id),
    start: async (over = {}) => runProducer(stateDir, {
      ...run, ...over,
      guard: over.guard ?? await holdGuard(stateDir, binding.producer_id),
    }),
    verdict: () => judgeProducer(binding, token, loadEvidence(stateDir, job.job_id)),
    held: () => isHeld(stateDir, binding.producer_id),
  }
}

/** Contents out of the pack under which they were sealed; one opening serves all of them. */
export const piecesIn = (store: Store, ref: ArtifactRef): ProducerRun['piecesOf'] => {
  let pack: PackReader | undefined
  return (id) => (pack ??= store.artifacts.openPack(sourceLabel, ref)).chunks(id)
}

/** Runs a bound producer from its folder, in another process (see children/producer.ts). */
export const runFrom = async (
  dir: string, started?: (pid: number) => void, begun?: () => Promise<void>,
): Promise<ProducerVerdict> => {
  const { binding, job, manifest, ref } = JSON.parse(readFileSync(
    join(dir, 'run.json'), 'utf8')) as Omit<ProducerRun, 'token'> & { ref: ArtifactRef }
  const stateDir = join(dir, 'state')
  const store = openStore({ dir: stateDir, configDir: join(dir, 'config'), mode: 'read' })
  return runProducer(stateDir, {
    binding, job, manifest, token: producerToken(store, binding.producer_id),
    guard: await holdGuard(stateDir, binding.producer_id), piecesOf: piecesIn(store, ref),
    ...(started === undefined ? {} : { onStarted: started }),
    ...(begun === undefined ? {} : { begun }),
  })
}

/** The same for a test, which removes it at its end. */
export const madeFor = async (t: Teardown, how: Producing = {}): Promise<Produced> => {
  const produced = await producing(how)
  t.teardown(() => clear(produced))
  return produced
}

/** The number of the supervisor whose start record lies in a stage. */
export const supervisorOf = ({ stage }: Pick<Produced, 'stage'>): number => {
  const start = JSON.parse(readFileSync(join(stage, 'start.json'), 'utf8')) as StartRecord
  return start.supervisor.pid
}

/** Waits until the observed supervisor stands at its step. */
export const untilStopped = ({ stateDir }: Pick<Produced, 'stateDir'>): Promise<void> =>
  until('the supervisor stands', () => existsSync(join(stateDir, 'stopped')))

/** Lets it go on. */
export const goOn = ({ stateDir }: Pick<Produced, 'stateDir'>): void =>
  writeFileSync(join(stateDir, 'go'), '')

/** A process that runs a bound producer, and whose environment is what the test says. */
export const startApart = (
  { dir }: Pick<Produced, 'dir'>, env: Readonly<Record<string, string>> = {},
  more: { readonly holds?: true } = {},
): ChildProcess => {
  const here = fileURLToPath(import.meta.url)
  const program = join(here, `../../children/producer${extname(here)}`)
  // The test runner puts itself into whatever a process of its own starts; a shell's it does not.
  const given = { NODE_OPTIONS: '', PATH: '/usr/bin:/bin', ...env }
  const pairs = Object.entries(given).map(([name, value]) => `${name}=${value}`)
  const argv = [...pairs, process.execPath, program, JSON.stringify({ dir, ...more })]
  return spawn('/usr/bin/env', ['-i', ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'], detached: true,
  })
}

/** Runs it to its end. */
export const runApart = async (
  produced: Pick<Produced, 'dir'>, env: Readonly<Record<string, string>> = {},
): Promise<ProducerVerdict> => {
  const child = startApart(produced, env)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  await once(child, 'close')
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as ProducerVerdict
}

/** Removes what a test made, and ends whoever still runs a program of its folder. */
export const clear = ({ dir, store }: Pick<Produced, 'dir' | 'store'>): void => {
  store.close()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      if (line.includes(dir)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // Gone, or another's.
    }
  }
  rmSync(dir, { recursive: true, force: true })
}

/** Whether a process is there and no zombie. */
export const lives = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
