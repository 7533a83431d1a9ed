/**
 * The supervisor of one producer (C-075 to C-078, C-264 to C-267): a process of its own session
 * that owns git, its pipes and the guard of the job, gives git one fixed stream, and does not end
 * before nothing is left of what it started, or the time is over. It gets no key, no credential and
 * no choice of command; it writes two records and what git stores.
 */
import { createHash } from 'node:crypto'
import {
  closeSync, fstatSync, lstatSync, readFileSync, readdirSync, readlinkSync, statSync, unlinkSync,
} from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '../../../base/canonical.js'
import { gitSteps, type GitStep } from '../git-command.js'
import { inventoryOf } from '../inventory.js'
import {
  fifoFromStage, guardFd, isolationClaim, producerLimits, recoveryContract, stageNames,
} from '../producer-limits.js'
import type { ProducerManifest } from '../manifest.js'
import type { PrefixReason, ProducerBinding, StartRecord, TerminalMarker } from '../shapes.js'
import { feedAll, type Made } from './feed.js'
import { GitChild, startTicksOf, type Exit } from './git-child.js'
import { Input } from './input.js'
import { writeMarker, writeStart } from './records.js'
import { loadSystem, type System } from './system.js'

/** How the supervisor ends where it has no marker to show; its exit status. */
const supervisorExits = {
  done: 0, unsupported: 70, not_admitted: 71, not_started: 72, not_recorded: 73, not_quiescent: 74,
} as const
type ExitName = keyof typeof supervisorExits

/** What a build of the supervisor fixes; the shipped one takes all of it from `producerLimits`. */
interface SupervisorBuild {
  readonly wallMs: number
  readonly reapMs: number
  /** Told of each step by name before it goes on. */
  at(step: string): Promise<void>
}

const shipped: SupervisorBuild = {
  wallMs: producerLimits.wallMs, reapMs: producerLimits.reapMs, at: () => Promise.resolve(),
}

const nsPerMs = 1_000_000n
const pollMs = 5
const tokenBytes = 64

/** The process that the supervisor is. */
export interface Program {
  readonly pid: number
  readonly stdin: Readable
  readonly stdout: Writable
  on(signal: NodeJS.Signals, act: () => void): void
  /** Ends it; nothing that is still waited for holds it up. */
  exit(status: number): never
}

/** Ends the supervisor; what led here is told by its exit status. */
class Leaving extends Error {
  constructor(readonly exit: ExitName) {
    super(exit)
  }
}

const leave = (name: ExitName): never => {
  throw new Leaving(name)
}

/**
 * Descriptors that came from the parent without being meant to are closed: files, folders, sockets.
 * What remains, the guard among it, goes into nothing that is started.
 */
const keepDescriptors = (system: System): void => {
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name)
    if (fd < guardFd) continue
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`)
      if (fd > guardFd && /^(?:\/(?!dev\/null$|proc\/)|socket:)/.test(target)) closeSync(fd)
      else if (!system.closeOnExec(fd)) leave('unsupported')
    } catch (error) {
      // The listing's own one is gone by now.
      if (error instanceof Leaving) throw error
    }
  }
}

const secureSystem = (addonPath: string): System => {
  try {
    const system = loadSystem(addonPath)
    if (system.becomeSubreaper() && system.harden()) return system
  } catch {
    // Told by the exit status.
  }
  return leave('unsupported')
}

/** What is written down of the guard, so that another descriptor is not taken for it. */
const guardPlace = (): string => {
  const { dev, ino } = fstatSync(guardFd, { bigint: true })
  return `${dev}:${ino}`
}

interface Admitted {
  readonly binding: ProducerBinding
  readonly bindingSha256: string
  readonly token: string
  /** Null where whoever gave the token gave no whole manifest: nothing is started. */
  readonly manifest: ProducerManifest | null
  readonly input: Input
}

/** One that is to be made. */
type Whole = Admitted & { readonly manifest: ProducerManifest }

const isWhole = (admitted: Admitted): admitted is Whole => admitted.manifest !== null

const isOwnStage = (binding: ProducerBinding): boolean => {
  const { ino, mode } = statSync('.', { bigint: true })
  return String(ino) === binding.stage.inode && (mode & 0o077n) === 0n
}

/** Reads token and manifest and holds both against the binding. Nothing was started yet. */
const admit = async (stdin: Readable, at: SupervisorBuild['at']): Promise<Admitted> => {
  const bindingBytes = readFileSync(stageNames.binding)
  const binding = JSON.parse(bindingBytes.toString('utf8')) as ProducerBinding
  const input = new Input(stdin)
  const limit = setTimeout(() => input.end(), producerLimits.admitMs)
  const token = (await input.take(tokenBytes))?.toString('latin1') ?? ''
  const isOwner = sha256Hex(token) === binding.token_sha256
  if (!isOwner || !isOwnStage(binding)) return leave('not_admitted')
  await at('owned')
  const bytes = await input.frame(producerLimits.manifestBytesMax)
  clearTimeout(limit)
  const owned = { binding, bindingSha256: sha256Hex(bindingBytes), token, input }
  // Whoever gave the token died, or stood still: it is known already that nothing will be started.
  if (bytes === null) return { ...owned, manifest: null }
  if (bytes === 'too_long') return leave('not_admitted')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== binding.inputs.manifest_sha256) return leave('not_admitted')
  return { ...owned, manifest: JSON.parse(bytes.toString('utf8')) as ProducerManifest }
}

type Children = Readonly<Record<GitStep, GitChild>>

/** Null where the system let none of them be started, as one that is out of processes does. */
const startChildren = (binding: ProducerBinding): Children | null => {
  const started = gitSteps.map((step) => [step, GitChild.start(binding, step)] as const)
  if (started.every(([, child]) => child !== null)) {
    return Object.fromEntries(started) as Record<GitStep, GitChild>
  }
  if (started.every(([, child]) => child === null)) return null
  for (const [, child] of started) child?.stop()
  return leave('not_started')
}

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()

const claims = { isolation_claim: isolationClaim, recovery_contract: recoveryContract } as const

const startOf = (
  { binding, bindingSha256 }: Whole, children: Children, startedNs: bigint, wallMs: number,
): Omit<StartRecord, 'mac'> => {
  const { helper, node, git, addon, inputs } = binding
  const identity = ({ pid, startTicks }: GitChild) => ({ pid, start_ticks: startTicks })
  return {
    schema: 'svc.codehost.producer_start.v1', ...claims,
    producer_id: binding.producer_id, job_id: binding.job.job_id, binding_sha256: bindingSha256,
    token_sha256: binding.token_sha256, boot_id: bootId(),
    supervisor: { pid: process.pid, start_ticks: startTicksOf('self') },
    // A leader of a session is the leader of its first group, which git is in.
    session: process.pid, group: process.pid,
    children: {
      blobs: identity(children.blobs), trees: identity(children.trees),
      commit: identity(children.commit),
    },
    digests: {
      helper: helper.sha256, node: node.sha256, git: git.sha256, addon: addon.sha256,
      manifest: inputs.manifest_sha256,
    },
    started_ns: String(startedNs), deadline_ns: String(startedNs + BigInt(wallMs) * nsPerMs),
  }
}

/** What is to be done by signals, and when the time for making something is over. */
class Stopping {
  reason: PrefixReason | null = null
  readonly #controller = new AbortController()

  /** Runs `act` at the stop, at once where it was; resolves with its reason. */
  async wait(act: () => void): Promise<PrefixReason | null> {
    const { signal } = this.#controller
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
    }
    act()
    return this.reason
  }

  end(reason: PrefixReason): void {
    this.reason ??= reason
    this.#controller.abort()
  }
}

/**
 * Waits until nothing lives that this process is answerable for: descendants that lost their parent
 * are its children, whatever session, group, environment or descriptors they gave themselves.
 * Answers how many it reaped; null where some lived on at the deadline.
 */
const reapAll = async (system: System, deadlineNs: bigint): Promise<number | null> => {
  for (let reaped = 0; ;) {
    const found = system.reap()
    if (process.hrtime.bigint() > deadlineNs) return null
    if (found === 'none') return reaped
    if (found === 'alive') await sleep(pollMs)
    else reaped += 1
  }
}

/** Every pipe at its end, every exit seen by Node itself, then nothing left; null: not in time. */
const quiesce = async (
  system: System, children: Children, deadlineNs: bigint,
): Promise<{ exits: Record<GitStep, Exit>, reaped: number } | null> => {
  const leftMs = Number((deadlineNs - process.hrtime.bigint()) / nsPerMs)
  const closed = Promise.all(
    gitSteps.map(async (step) => [step, await children[step].closed] as const))
  const exits = await Promise.race([closed, sleep(Math.max(0, leftMs), null, { ref: false })])
  if (exits === null) return null
  const reaped = await reapAll(system, deadlineNs)
  if (reaped === null) return null
  return { exits: Object.fromEntries(exits) as Record<GitStep, Exit>, reaped }
}

/** The last act of a supervisor that cannot prove anything: its own group goes with it. */
const giveUp = (): never => {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    // It is no leader of a group: then there is none to end.
  }
  return leave('not_quiescent')
}

const say = (stdout: Writable, event: object): void => {
  if (!stdout.destroyed) stdout.write(`${JSON.stringify(event)}\n`)
}

interface Under {
  readonly program: Program
  readonly admitted: Whole
  readonly system: System
  readonly children: Children
  readonly stopping: Stopping
  readonly build: SupervisorBuild
  readonly guard: string
}

const makeAll = async (
  { admitted, system, children, stopping, build }: Under, made: Made,
): Promise<PrefixReason | null> => {
  const { manifest, input, binding } = admitted
  // A pipe that a stranger holds open would be waited for without an end.
  return Promise.race([
    stopping.wait(() => {
      input.end()
      for (const child of Object.values(children)) child.stop()
    }),
    feedAll({
      system, input, manifest, children, fifo: fifoFromStage(binding.job.job_id), made,
      stopped: () => stopping.reason, at: build.at,
    }),
  ])
}

/** From the start record to the marker. */
const produce = async (under: Under): Promise<void> => {
  const { program, admitted, system, children, stopping, build, guard } = under
  const { binding, token } = admitted
  const startedNs = process.hrtime.bigint()
  const start = startOf(admitted, children, startedNs, build.wallMs)
  const deadlineNs = BigInt(start.deadline_ns)
  const startSha256 = await writeStart(token, start, build.at)
  say(program.stdout, { event: 'started', start_sha256: startSha256 })
  const wall = setTimeout(() => stopping.end('wall'), build.wallMs - build.reapMs)
  const made: Made = { blobs: 0, trees: 0, commits: 0 }
  const fed = await makeAll(under, made)
  const reason = stopping.reason ?? fed
  if (reason !== null) for (const child of Object.values(children)) child.stop()
  await build.at('fed')
  const quiet = await quiesce(system, children, deadlineNs)
  clearTimeout(wall)
  // The guard must still be the one that this process was given.
  if (quiet === null || guardPlace() !== guard) return giveUp()
  await build.at('quiescent')
  unlinkSync(fifoFromStage(binding.job.job_id))
  const marker: Omit<TerminalMarker, 'mac'> = {
    schema: 'svc.codehost.producer_marker.v1', ...claims,
    producer_id: binding.producer_id, job_id: binding.job.job_id,
    binding_sha256: admitted.bindingSha256, start_sha256: startSha256, boot_id: start.boot_id,
    end: reason === null ? 'complete' : 'prefix', reason, made: { ...made },
    exits: quiet.exits,
    quiescence: {
      exits_seen: true, pipes_at_eof: true, waitpid: 'ECHILD', reaped: quiet.reaped,
    },
    ended_ns: String(process.hrtime.bigint()), inventory_sha256: inventoryOf('.'),
  }
  const sha256 = await writeMarker(token, marker, build.at)
  say(program.stdout, { event: 'ended', end: marker.end, reason, marker_sha256: sha256 })
}

/** Nothing was started and nothing will be: that is written down before the guard goes. */
const endNotBegun = async (
  { admitted: { binding, bindingSha256, token }, system, build, guard }:
  Pick<Under, 'system' | 'build' | 'guard'> & { readonly admitted: Admitted },
): Promise<void> => {
  if (system.reap() !== 'none' || guardPlace() !== guard) return leave('not_quiescent')
  await writeMarker(token, {
    schema: 'svc.codehost.producer_marker.v1', ...claims,
    producer_id: binding.producer_id, job_id: binding.job.job_id, binding_sha256: bindingSha256,
    start_sha256: null, boot_id: bootId(), end: 'prefix', reason: 'not_begun',
    made: { blobs: 0, trees: 0, commits: 0 }, exits: null,
    quiescence: { exits_seen: true, pipes_at_eof: true, waitpid: 'ECHILD', reaped: 0 },
    ended_ns: String(process.hrtime.bigint()), inventory_sha256: inventoryOf('.'),
  }, build.at)
}

/** A pipe of this job alone; what an earlier process left of that name goes. */
const makeFifo = (system: System, path: string): boolean => {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path)
  return system.makeFifo(path)
}

/** The three gits; null where there is nothing to start them with: none was. */
const begin = async (
  { binding }: Whole, system: System, build: SupervisorBuild,
): Promise<Children | null> => {
  await build.at('admitted')
  const fifo = fifoFromStage(binding.job.job_id)
  if (!makeFifo(system, fifo)) return null
  const children = startChildren(binding)
  if (children === null) unlinkSync(fifo)
  return children
}

/** Stops what was started and waits a moment for it, so that the guard does not go before it. */
const stopChildren = async (children: Children, reapMs: number): Promise<void> => {
  for (const child of Object.values(children)) child.stop()
  const closed = Promise.all(Object.values(children).map((child) => child.closed))
  await Promise.race([closed, sleep(reapMs, null, { ref: false })])
}

const inStage = async (program: Program, build: SupervisorBuild): Promise<never> => {
  const stopping = new Stopping()
  // Node would open its debugger.
  program.on('SIGUSR1', () => undefined)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    program.on(signal, () => stopping.end('stopped'))
  }
  program.stdout.on('error', () => undefined)
  const { addon } = JSON.parse(readFileSync(stageNames.binding, 'utf8')) as ProducerBinding
  const system = secureSystem(addon.path)
  keepDescriptors(system)
  const guard = guardPlace()
  const admitted = await admit(program.stdin, build.at)
  const children = isWhole(admitted) ? await begin(admitted, system, build) : null
  if (!isWhole(admitted) || children === null) {
    await endNotBegun({ admitted, system, build, guard }).catch(() => leave('not_recorded'))
    return leave('done')
  }
  await build.at('spawned')
  try {
    await produce({ program, admitted, system, children, stopping, build, guard })
  } catch {
    // A disk that is full, or a stage that nothing can be written to: there is no proof.
    await stopChildren(children, build.reapMs)
    return leave('not_recorded')
  }
  return leave('done')
}

const told = async (program: Program, work: () => Promise<never>): Promise<never> => {
  try {
    return await work()
  } catch (error) {
    return program.exit(supervisorExits[error instanceof Leaving ? error.exit : 'not_started'])
  }
}

/** Runs the supervisor in its stage, which is the working directory. Never returns. */
export const supervise = (program: Program, build: SupervisorBuild = shipped): Promise<never> =>
  told(program, () => inStage(program, build))

/** Says whether this machine has what a supervisor needs. Starts nothing, writes nothing. */
export const probe = (program: Program, addonPath: string): Promise<never> =>
  told(program, () => {
    secureSystem(addonPath)
    program.stdout.write('supported\n')
    return leave('done')
  })
