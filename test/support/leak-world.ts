/**
 * A deployment in which everything private carries a mark: question, answers, keys, reply bodies,
 * passphrases. Every command that runs in it is watched: what it prints, its arguments and
 * environment while it runs, and the files of the deployment at each request of the provider.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { SeenRequest } from '../../src/sandbox/types.js'
import type { Ran, SpawnOptions } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'
import { marksInFiles, searchFor } from './marks.js'

/** Marks by what they stand for; the rig's own key carries the first. */
export const marks = {
  firstKey: 'MARK-KEY-0123456789', secondKey: 'MARK-KEY-SECOND-42', gatewayKey: 'MARK-KEY-GATEWAY',
  question: 'MARK-QUESTION-71', answer: 'MARK-ANSWER-93', body: 'MARK-BODY-58',
  passphrase: 'MARK-PASSPHRASE-36', input: 'MARK-INPUT-25',
} as const

/** Texts around the marks that every encoder would have to touch. */
export const texts = {
  question: `${marks.question} "é"\n\t門 \u0001 end`,
  answer: `${marks.answer} "ü"\n</script> 門`,
} as const

/** How the provider's completion differs from an honest one. */
export interface Reply {
  readonly choices?: number
  readonly costNanoUsd?: number
  /** Bytes for one route instead of an honest reply, with a mark in every header that is read. */
  readonly raw?: { readonly route: string; readonly body: string }
}

/** How a command runs. */
export interface CommandOptions extends SpawnOptions {
  /** Its stdout may hold the answer. */
  readonly released?: boolean
  /** As a process of its own; with failpoints it always is. */
  readonly process?: boolean
}

/** The watched deployment. */
export interface LeakWorld {
  readonly rig: AlphaWorld
  /** Folder for input files, outside everything that is searched. */
  file(name: string, content: string): string
  command(argv: readonly string[], options?: CommandOptions): Promise<Ran>
  ask(options?: CommandOptions & { readonly flags?: readonly string[] }): Promise<Ran>
  /** What the provider will answer; the body is full of marks whatever it is. */
  reply: Reply
  /** Does something once while a route's request is open. */
  during(route: string, act: (child: ChildProcess) => Promise<void> | void): void
  /** Everything that was found so far, files searched once more. */
  findings(): string[]
  /** How often something was searched, so that a test can tell that it was. */
  searches(): number
}

const search = searchFor(Object.values(marks))

/** Any released form of the answer is taken out before stdout is searched. */
const withoutAnswer = (text: string): string =>
  text.replaceAll(texts.answer, '').replaceAll(JSON.stringify(texts.answer).slice(1, -1), '')

class Watched implements LeakWorld {
  rig!: AlphaWorld
  reply: Reply = {}
  readonly #outside: string
  readonly #found: string[] = []
  #searches = 0
  #child: ChildProcess | null = null
  #during: { route: string; act: (child: ChildProcess) => Promise<void> | void } | null = null
  #number = 0

  constructor(outside: string) {
    this.#outside = outside
  }

  file(name: string, content: string): string {
    const path = join(this.#outside, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }

  async command(argv: readonly string[], options: CommandOptions = {}): Promise<Ran> {
    const { released = false, process: apart = options.env !== undefined, ...rest } = options
    const stdin = rest.stdin === undefined ? {} : { stdin: rest.stdin }
    const ran = apart ? await this.#spawn(argv, rest) : await this.rig.run(argv, stdin)
    const name = argv.filter((word) => /^[a-z-]+$/.test(word)).slice(0, 3).join(' ')
    this.#look(`stderr of ${name}`, Buffer.from(ran.stderr))
    const out = released ? Buffer.from(withoutAnswer(ran.stdout)) : ran.bytes
    this.#look(`stdout of ${name}`, out)
    return ran
  }

  async #spawn(argv: readonly string[], options: SpawnOptions): Promise<Ran> {
    const temporary = join(this.rig.place.dir, 'tmp')
    mkdirSync(temporary, { recursive: true })
    const ran = await this.rig.place.spawn(argv, {
      entry: 'test', coverage: false, ...options, env: { TMPDIR: temporary, ...options.env },
      onChild: (child) => { this.#child = child },
    })
    this.#child = null
    return ran
  }

  ask(
    { flags = [], ...options }: CommandOptions & { readonly flags?: readonly string[] } = {},
  ): Promise<Ran> {
    return this.command(['alpha', 'ask', '-', ...flags], { stdin: texts.question, ...options })
  }

  during(route: string, act: (child: ChildProcess) => Promise<void> | void): void {
    this.#during = { route, act }
  }

  /** A request has come: the process waits for us, so this is the moment to look around. */
  async onRequest(request: SeenRequest): Promise<void> {
    this.#lookAtProcess()
    this.#lookAtFiles(`while ${request.route} is open`)
    if (request.service === 'provider') this.#prepareReply(request)
    const due = this.#during
    if (due === null || due.route !== request.route || this.#child === null) return
    this.#during = null
    await due.act(this.#child)
  }

  findings(): string[] {
    this.#lookAtFiles('afterwards')
    return [...new Set(this.#found)]
  }

  searches(): number {
    return this.#searches
  }

  #look(where: string, bytes: Buffer): void {
    this.#searches += 1
    this.#found.push(...search(bytes).map((found) => `${where}: ${found}`))
  }

  #lookAtProcess(): void {
    if (this.#child === null) return
    for (const name of ['cmdline', 'environ']) {
      const path = `/proc/${this.#child.pid}/${name}`
      if (existsSync(path)) this.#look(`${name} of a running command`, readFileSync(path))
    }
  }

  #lookAtFiles(when: string): void {
    this.#searches += 1
    const { place } = this.rig
    this.#found.push(...marksInFiles(search, [place.dir], [place.path('key')])
      .map((found) => `${when}: ${found}`))
  }

  #prepareReply(request: SeenRequest): void {
    const route = request.route === 'billing' ? 'billing' : 'completion'
    const { raw } = this.reply
    const reply = raw?.route === route
      ? { body: raw.body, headers: { 'x-note': marks.body, 'inference-id': marks.body } }
      : { body: this.#bodyFor(request) }
    this.rig.sandbox.faults.reply(reply, { route, times: 1 })
  }

  #bodyFor({ route, body }: SeenRequest): string {
    const { model, requestIds } = JSON.parse(body.toString()) as {
      model?: string; requestIds?: string[]
    }
    const extra = { note: marks.body }
    if (route === 'billing') {
      const entry = { requestId: requestIds?.[0], costNanoUsd: this.reply.costNanoUsd ?? 1_000_001 }
      return JSON.stringify({ requests: [{ ...entry, ...extra }], ...extra })
    }
    this.#number += 1
    const message = {
      role: 'assistant', content: texts.answer, reasoning_content: marks.body, ...extra,
    }
    const choice = { index: 0, message, finish_reason: 'stop', ...extra }
    return JSON.stringify({
      id: `${marks.body}-${this.#number}`, model, usage: extra, ...extra,
      choices: Array.from({ length: this.reply.choices ?? 1 }, () => choice),
    })
  }
}

/** Makes the deployment, set up and logged in. */
export const leakWorld = async (t: Test): Promise<LeakWorld> => {
  const world = new Watched(t.testdir({}))
  world.rig = await World.in(t)
    .sandbox({ hooks: { onRequest: (_service, request) => world.onRequest(request) } })
    .state().session().alpha()
  return world
}
