/** The kinds of containers in which the whole walk is taken, and what it comes to in each. */
import type { Loose } from '../../world/place.js'
import type { Container } from './container.js'
import { stepsOf, type Step } from './walk.js'

/** A kind of container by name. */
export interface Row extends Container {
  readonly name: string
  /** The volume is full on the way. */
  readonly isFilled?: boolean
}

/** PID 1 that waits for its own child alone; then it tells how many of the others it has left. */
const reapsNothing = `
const { spawn } = require('node:child_process')
const { readdirSync, readFileSync } = require('node:fs')
const isDead = (pid) => {
  try { return /^State:\\s+Z/m.test(readFileSync('/proc/' + pid + '/status', 'utf8')) }
  catch { return false }
}
spawn('/bin/sh', ['-c', process.argv[1]], { stdio: 'inherit' }).once('exit', (status) => {
  const left = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && isDead(name)).length
  console.log('== zombies ' + left + '\\n-- ')
  process.exitCode = status
})`

const smallBytes = 4 * 1024 * 1024

const overlay = (options: string): string => `
mount -t tmpfs none "$1" && mkdir "$1/lower" "$1/upper" "$1/work" "$1/volume" \\
  && mount -t overlay -o "${options}lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" \\
    none "$1/volume" || exit 99`

/** An overlay that cannot keep where a folder came from: a layer made for root, in a namespace. */
export const overlayWithoutOrigins: Container = { mounts: overlay('') }

/** The rows of the matrix. */
export const rows: readonly Row[] = [
  { name: 'a bind mount, PID 1 reaps' },
  { name: 'a user without a home', env: { HOME: undefined } },
  { name: 'a uid without a name', options: ['--uid', '4242', '--gid', '4242'] },
  {
    name: 'a read-only root', scratch: '/state', env: { HOME: '/nonexistent' },
    options: ['--remount-ro', '/dev', '--remount-ro', '/'],
  },
  {
    name: 'no /dev/shm',
    options: ['--tmpfs', '/dev', ...['null', 'zero', 'urandom', 'random']
      .flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`])],
  },
  {
    name: 'a tmpfs of 4 MiB that fills up', isFilled: true,
    options: ['--size', String(smallBytes), '--tmpfs', '/state'],
  },
  { name: 'PID 1 that reaps nothing', first: reapsNothing },
  { name: 'an overlay', mounts: overlay('userxattr,') },
]

/** A row of the table of docs/dev/platforms.md, by what its walk wrote. */
export const textOf = (row: Row, written: string): string => {
  const { steps, failed, counts } = reckoned(written)
  const refused = Object.keys(failed)
  if (steps.size === 0 || !refused.every((name) => name.startsWith('full:'))) {
    return `| ${row.name} | ${JSON.stringify(failed)} |`
  }
  const lines = [...steps.keys()].filter((name) => name !== 'zombies').length
  const { scanned, ingested, analyzed, reported, requests, isSound } = counts()
  const cells = [
    row.name, `${lines}, ${refused.length}${refused.length > 0 ? ' for want of room' : ''}`,
    `${scanned}, ${ingested}, ${analyzed}, ${reported}`, requests, isSound ? 'sound' : 'damaged',
  ]
  return `| ${cells.join(' | ')} |`
}

/** What a walk came to, counted by the program's own documents. */
export interface Counts {
  readonly scanned: number
  readonly ingested: number
  readonly duplicate: number
  readonly suppressed: number
  readonly analyzed: number
  readonly reported: number
  readonly tasks: number
  readonly observations: number
  readonly isSound: boolean
  /** Requests that the sandbox saw. */
  readonly requests: number
}

/** A step of a walk. Throws where there was none. */
export const stepOf = (steps: ReadonlyMap<string, Step>, name: string): Step => {
  const step = steps.get(name)
  if (step === undefined) throw new Error(`the walk has no step ${name}`)
  return step
}

/** The document of a step. */
export const documentOf = (steps: ReadonlyMap<string, Step>, name: string): Loose =>
  JSON.parse(stepOf(steps, name).stdout)

/** Statuses of the steps that did not end with 0, and what the walk came to. */
export const reckoned = (written: string): {
  readonly steps: ReadonlyMap<string, Step>
  readonly failed: Readonly<Record<string, string>>
  readonly counts: () => Counts
} => {
  const steps = stepsOf(written)
  const failed = [...steps].filter(([name, { status }]) => status !== 0 && name !== 'zombies')
    .map(([name, { status, stderr }]) => [name, `${status} ${stderr}`])
  const of = (name: string) => documentOf(steps, name)
  return {
    steps,
    failed: Object.fromEntries(failed) as Readonly<Record<string, string>>,
    counts: () => {
      const { scanned, ingested, duplicate, suppressed } = of('scan')
      return {
        scanned, ingested, duplicate, suppressed, analyzed: of('analyze').analyzed,
        reported: of('report').report.facts.count, tasks: of('tasks').length,
        observations: of('list').length, isSound: of('check').ok, requests: of('seen').requests,
      }
    },
  }
}
