/** One git that was started: its lines one by one, and how it ended. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { producerLimits } from '../producer-limits.js'
import type { ProducerBinding } from '../shapes.js'
import type { GitStep } from '../git-command.js'

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

const startTicksField = 19

/** When a process started, in ticks since boot: with its number it is no other one (proc(5)). */
export const startTicksOf = (pid: number | 'self'): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may hold spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[startTicksField] ?? ''
}

/** A line, or why there is none: git ended, or wrote more than one. */
type Line = { readonly line: string } | { readonly line: null, readonly exceeded: boolean }

/** A git command under way. */
export class GitChild {
  readonly pid: number
  readonly startTicks: string
  /** Resolves when it was seen to exit and every pipe to it is at its end. */
  readonly closed: Promise<Exit>
  readonly #child: ChildProcess
  #text = ''
  #exit: Exit | null = null
  #broken = false
  #isStopped = false
  #wake: (() => void) | null = null

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child
    this.pid = pid
    this.startTicks = startTicksOf(pid)
    child.stdout?.setEncoding('latin1').on('data', (text: string) => {
      // Once it is stopped the pipe is read to its end: paused again it would never close.
      if (this.#isStopped) return
      this.#text += text
      // One line is waited for at a time; whoever writes more is stopped.
      if (this.#text.length > producerLimits.lineBytes) child.stdout?.pause()
      this.#wake?.()
    })
    for (const stream of [child.stdin, child.stdout]) {
      stream?.on('error', () => {
        this.#broken = true
        this.#wake?.()
      })
    }
    this.closed = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#exit = { code, signal }
        resolve(this.#exit)
        this.#wake?.()
      })
    })
  }

  /** Starts one of the fixed commands in the stage; null where it could not be started. */
  static start(
    { git, arguments: args, environment }: ProducerBinding, step: GitStep,
  ): GitChild | null {
    const child = spawn(git.path, [...args.git[step]], {
      argv0: 'git', cwd: '.', env: { ...environment.git }, stdio: ['pipe', 'pipe', 'ignore'],
    })
    child.on('error', () => undefined)
    return child.pid === undefined ? null : new GitChild(child, child.pid)
  }

  get isOver(): boolean {
    return this.#exit !== null || this.#broken
  }

  /** Gives it bytes; resolves when they are taken or it is over. */
  async give(bytes: string | Uint8Array): Promise<void> {
    const { stdin } = this.#child
    if (this.isOver || stdin === null || stdin.destroyed) return
    await new Promise<void>((resolve) => {
      stdin.write(bytes, () => resolve())
    })
  }

  /** Nothing more is given to it. */
  finish(): void {
    this.#child.stdin?.end()
  }

  stop(): void {
    this.#isStopped = true
    this.#child.kill('SIGKILL')
    this.#child.stdin?.destroy()
    // What it wrote beyond its line is not kept, but the pipe has to come to its end.
    this.#child.stdout?.resume()
  }

  /** Its next line, without its end. */
  async line(): Promise<Line> {
    while (!this.#text.includes('\n') && !this.isOver) {
      if (this.#text.length > producerLimits.lineBytes) return { line: null, exceeded: true }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
    const at = this.#text.indexOf('\n')
    if (at === -1) return { line: null, exceeded: false }
    if (at + 1 !== this.#text.length || at + 1 > producerLimits.lineBytes) {
      return { line: null, exceeded: true }
    }
    const line = this.#text.slice(0, at)
    this.#text = ''
    return { line }
  }

  /** Whether it wrote something that nobody waited for. */
  get hasMore(): boolean {
    return this.#text !== ''
  }
}
