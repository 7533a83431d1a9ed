/** Runs the program in this process, with fakes for everything outside it. */
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { safeParse } from 'valibot'
import { systemClock } from '../../src/base/clock.js'
import { thisPlatform } from '../../src/base/platform/this-platform.js'
import type { Observer } from '../../src/base/observer.js'
import { pageShape } from '../../src/base/page.js'
import { describingDeps } from '../../src/cli/describing.js'
import type { CliDeps } from '../../src/cli/deps.js'
import { main } from '../../src/cli/main.js'
import { runCommand } from '../../src/cli/run.js'
import { commands } from '../../src/cli/commands/table.js'
import { scanGlobals } from '../../src/cli/globals.js'
import type { Prompter } from '../../src/cli/prompt.js'
import { describeOlder, describeTree } from '../../src/cli/tree.js'
import type { DescribedVerb } from '../../src/cli/tree.js'
import { verbNamed } from '../../src/cli/line.js'
import { stopTimes } from '../../src/governance/stops/act.js'
import { timeOf } from '../support/speed.js'
import type { Answer, Place, Ran, RunOptions } from './place.js'
import { ranOf } from './ran.js'

// Whoever is asked for a fence answers later on a busy machine.
stopTimes.fenceWaitMs = Math.max(stopTimes.fenceWaitMs, timeOf(34))

/** Runs one line at a place. */
export const runHere = async (
  place: Place, argv: readonly string[], options: RunOptions,
): Promise<Ran> => {
  const out: Buffer[] = []
  const err: string[] = []
  const terminal = { stdin: false, stdout: false, stderr: false, ...options.terminal }
  const deps: CliDeps = {
    argv,
    env: { ...place.env, ...options.env },
    execArgv: options.execArgv ?? [],
    cwd: place.cwd,
    home: place.env['HOME'] as string,
    clock: options.clock ?? systemClock,
    stop: options.stop ?? new AbortController().signal,
    onInsist: options.onInsist ?? (() => undefined),
    io: {
      terminal,
      columns: options.columns ?? 80,
      rows: options.rows ?? 24,
      writeOut: (data) => void out.push(Buffer.from(data)),
      isOutGone: () => false,
      writeErr: (text) => void err.push(text),
      async *stdin() {
        if (options.stdin !== undefined) yield Buffer.from(options.stdin)
      },
      streams: () => ({
        stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(),
      }),
    },
    async resolve(host) {
      const addresses = { localhost: ['127.0.0.1'], ...options.hosts }[host]
      if (addresses === undefined) {
        throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      }
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    self: options.self ?? { uid: 1000, program: ['/usr/bin/node', '/opt/sally port/bin'] },
    system: options.system ?? thisPlatform,
    producer: options.producer
      ?? { helper: join(process.env['SALLYPORT_TEST_APP'] ?? '', 'producer.js') },
    page: options.page ?? (async () => false),
    prompter: async () => answering([...(options.answers ?? [])]),
    observe: (drawn) => watched(drawn, options.at),
  }
  const status =
    options.commands === undefined ? await main(deps) : await runCommand(deps, options.commands)
  const ran = ranOf(status, Buffer.concat(out), err.join(''))
  if (argv.includes('--json') && options.commands === undefined) await requireShape(argv, ran)
  return ran
}

const watched = (drawn: Observer, at: RunOptions['at']): Observer =>
  at === undefined
    ? drawn
    : {
        async at(step) {
          await drawn.at(step)
          await at(step)
        },
      }

const answering = (answers: Answer[]): Prompter => {
  const next = async (asked: string): Promise<string | boolean> => {
    const answer = answers.shift()
    if (answer === undefined) throw new Error('a prompt has no answer in this test')
    return typeof answer === 'function' ? answer(asked) : answer
  }
  return {
    confirm: async (asked) => await next(asked) === true,
    text: async (asked) => String(await next(asked)),
    secret: async (asked) => String(await next(asked)),
    choose: async (asked) => String(await next(asked)),
    pick: async (asked) => String(await next(asked)).split(', ').filter((one) => one !== ''),
  }
}

let described: Promise<readonly DescribedVerb[]> | null = null

/** Every verb of the program. */
export const allVerbs = (): Promise<readonly DescribedVerb[]> =>
  (described ??= describeTree(describingDeps()))

let olderOnes: Promise<readonly DescribedVerb[]> | null = null

/** Every verb under each older name that it has. */
export const olderVerbs = (): Promise<readonly DescribedVerb[]> =>
  (olderOnes ??= describeOlder(describingDeps()))

/** Every record that acts, once: the verbs of today, and those that others of today joined. */
export const allRecords = async (): Promise<readonly DescribedVerb[]> => {
  const verbs = await allVerbs()
  const contracts = new Set(verbs.map(({ meta }) => meta.json))
  const others = (await olderVerbs()).filter(({ meta: { json } }, at, all) =>
    !contracts.has(json) && all.findIndex(({ meta }) => meta.json === json) === at)
  return [...verbs, ...others]
}

/** What a list prints, also of a page of it. */
const rowsOfPage = (document: unknown): unknown => {
  const page = safeParse(pageShape, document)
  return page.success ? page.output.rows : document
}

/** A JSON result has the shape that its verb declares, in every test that prints one. */
const requireShape = async (argv: readonly string[], ran: Ran): Promise<void> => {
  if (ran.stdout === '' || argv.includes('--help')) return
  // Only the module of the verb is loaded: all of them take half a second.
  const named = await verbNamed(commands, scanGlobals(argv).rest, describingDeps())
  if (named === null) return
  const { meta } = named.verb
  const { json } = meta
  if (json === null) return
  const documents = json.lines
    ? ran.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown) : [ran.json()]
  for (const whole of documents) {
    const document = rowsOfPage(whole)
    const parsed = safeParse(json.output, document)
    const isJoined = meta.joined.some((one) =>
      one.meta.json !== null && safeParse(one.meta.json.output, document).success)
    if (parsed.success || isJoined) continue
    const [issue] = parsed.issues
    const path = issue.path?.map(({ key }) => String(key)).join('.') ?? ''
    throw new Error(`${meta.name} --json is not of its shape at ${path}: ${issue.message}`)
  }
}
