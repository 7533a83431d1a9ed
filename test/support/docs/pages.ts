/** Pages as readers see them: their blocks, and what a shell answers when they are typed. */
import { spawn } from 'node:child_process'
import {
  chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { builtApp } from '../../world/process.js'
import { allVerbs } from '../../world/program.js'
import { noonZone } from '../noon.js'
import { signalled } from '../signalled.js'

/** One fenced block of a page. */
export interface Block {
  readonly info: string
  readonly text: string
  /** Why nobody runs it; null where somebody does. */
  readonly unrun: string | null
  /** Where its text begins and ends in the page. */
  readonly from: number
  readonly to: number
}

const fence = /^(?:<!-- not run: (.+) -->\n)?```([^\n]*)\n([^]*?)^```$/gm

/** The blocks of a page, in order. */
export const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(fence)].map((found) => {
    const [whole, unrun = null, info = '', text = ''] = found
    const to = found.index + whole.length - '```'.length
    return { info, text, unrun, from: to - text.length, to }
  })

/** Lines of the program in a text, without its name, whatever stands before and behind them. */
export const commandsIn = (text: string): readonly string[] =>
  text.replace(/\\\n\s*/g, '').split('\n').flatMap((line) => {
    const [, command] = /(?:^|[\s/])sallyport ([a-z-][^#]*)/.exec(line) ?? []
    return command === undefined ? [] : [command.replace(/ (\| [^-]|>|\|\|).*/, '').trim()]
  })

/** A line of the program in running text, without its name. */
export interface SpokenLine {
  readonly line: string
  /** Whether it is a command, and no mere name of a verb. */
  readonly isCommand: boolean
}

/** What running text says of the program; `verbs` are those that it has. */
export const spokenIn = (page: string, verbs: readonly string[]): readonly SpokenLine[] => {
  const prose = page.replace(fence, '')
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replace(/\s+/g, ' '))
  return spans.flatMap((span) => {
    const line = span.replace(/^sallyport /, '')
    const verb = verbs.find((one) => `${line} `.startsWith(`${one} `))
    // A word alone is any word; a noun and its verb name that, and are typed with what follows.
    if (span === line && verb?.includes(' ') !== true) return []
    return [{ line, isCommand: span !== line || line !== verb }]
  })
}

/** What is typed, and the block that says what it answers; null where it answers nothing. */
const exchanges = (page: string) => {
  const blocks = blocksOf(page).filter(({ unrun }) => unrun === null)
  return blocks.flatMap((block, place) => {
    if (block.info !== 'sh') return []
    const next = blocks[place + 1]
    return [{ typed: block.text, answer: next?.info === 'text' ? next : null }]
  })
}

/** A stand-in where there is no jq: paths alone. */
const pathOnly = `jq() { node -e '
  const fs = require("fs")
  const [path, file] = process.argv.slice(2)
  const value = path.split(/[.[\\]]+/).filter(Boolean)
    .reduce((one, key) => one[key], JSON.parse(fs.readFileSync(file ?? 0)))
  console.log(typeof value === "string" ? value : JSON.stringify(value))' "$@"; }`

const marker = '---- end of a block ----'

/** Where and with what a page is typed. */
export interface Reader {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What is typed before the page begins. */
  readonly before?: string
  /** Commands of running text that are typed otherwise than as they stand there. */
  readonly spoken?: Readonly<Record<string, Spoken>>
}

/** How a command of running text is typed behind the blocks of its page. */
export interface Spoken {
  /** Left out: as it stands there. */
  readonly typed?: string
  /** Its exit status; left out: 0, which is what a page that names a command promises. */
  readonly exit?: number
  /** Why nobody types it. */
  readonly unrun?: string
}

/** Ends what a page left behind its shell, as a sandbox that it did not come to stop. */
const endGroup = (pid: number | undefined): void => {
  if (pid !== undefined) signalled(-pid, 'SIGTERM')
}

/** Types the blocks one after the other in one shell; gives what each answered. */
const typed = async (
  t: Test, { cwd, env, before = '' }: Reader, blocks: readonly string[],
): Promise<readonly string[]> => {
  const bin = mkdtempSync(join(tmpdir(), 'sallyport-page-'))
  t.teardown(() => rmSync(bin, { recursive: true, force: true }))
  const program = join(bin, 'sallyport')
  const entry = join(await builtApp(), 'sallyport.js')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`)
  chmodSync(program, 0o755)
  const script = [
    `command -v jq >/dev/null || ${pathOnly}`,
    `${before}echo '${marker}'`,
    ...blocks.map((block) => `${block}echo '${marker}'`),
  ].join('\n')
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`
  const child = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd, env: { ...env, PATH }, stdio: ['ignore', 'pipe', 'inherit'], detached: true,
  })
  t.teardown(() => { endGroup(child.pid) })
  const out: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  await new Promise((done) => child.once('exit', done))
  // What is still running may hold the stream open.
  child.stdout.destroy()
  return Buffer.concat(out).toString('utf8').split(`${marker}\n`).slice(1, blocks.length + 1)
}

/** The same for every run: what is made anew each time has one form. */
const formed = (text: string, { cwd }: Reader): string => text
  .replaceAll(cwd, '/home/me')
  .replace(/\b([a-z]{2,4})_[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '$1_01a2b3c4-…')
  .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '6ba7b810-…')
  .replace(/\b[0-9a-f]{64}\b/g, '5feceb66…').replace(/\b[0-9a-f]{40}\b/g, 'd670460b…')
  .replace(/\brestore-\d{8}T\d+Z-[0-9a-f]{6}\b/g, 'restore-20260102T030405678Z-e01811')
  .replace(/\b\d+\.\d KiB, up to/g, '16.2 KiB, up to')
  .replace(/(?<=^key +present, )[0-9a-f]{16}$/gm, '899d6c045d9e2e21')
  .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-02T03:04:05.678Z')
  // A period keeps its two ends apart.
  .replace(/\b(\d{4}-\d\d-\d\d \d\d:\d\d) to (?!\1)\d{4}-\d\d-\d\d \d\d:\d\d\b/g,
    '2026-01-01 12:04 to 2026-01-02 12:04')
  .replace(/\b(?!2026-01-01 12:04 to )\d{4}-\d\d-\d\d \d\d:\d\d\b/g, '2026-01-02 12:04')
  .replace(/\w+day, \d+ \w+ \d{4}$/gm, 'Friday, 2 January 2026')
  // Hours stand in a chart of their own, and pictures are ready in no order.
  .replace(/(?:^ {2}\d\d:00 +\d+ {2}#+\n)+/gm, `  11:00       5  ${'#'.repeat(40)}\n`)
  .replace(/^ {2}\d\d:\d\d {2}(?=\S)/gm, '  11:59  ').replace(/Etc\/GMT[-+]\d+$/gm, 'UTC')
  .replace(/(?:^obs_.*\n)+/gm, (lines) => `${lines.trimEnd().split('\n').sort().join('\n')}\n`)
  .replace(/\b127\.0\.0\.1:\d+/g, '127.0.0.1:40001')
  // The end of an id that stands for a job in the name of its branch.
  .replace(/\bsite-[0-9a-f]{8}\b/g, 'site-1a2b3c4d')

/** The commands of running text that no block of the page has typed. */
const spokenBy = async (
  page: string, { spoken = {} }: Reader,
): Promise<readonly { readonly line: string; readonly how: Spoken }[]> => {
  const verbs = (await allVerbs()).map(({ meta }) => meta.name)
  const inBlocks = exchanges(page).flatMap((one) => commandsIn(one.typed))
  const lines = spokenIn(page, verbs).filter(({ line, isCommand }) =>
    isCommand && !inBlocks.some((typed) => `${typed} `.startsWith(`${line} `)))
  return [...new Set(lines.map(({ line }) => line))]
    .map((line) => ({ line, how: spoken[line] ?? {} }))
}

/** A command of running text that tells its exit status; a word in capitals is a variable. */
const told = (line: string, { typed }: Spoken): string => {
  const filled = typed ?? `sallyport ${line.replace(/\b[A-Z]{2,}\b/g, '"$$$&"')}`
  return `(${filled}) >spoken.txt 2>&1\necho "exit $?"\n`
}

/**
 * Types every block of a page that is run, and compares what it answers with what the page says;
 * then every command of its running text, which ends as it promises there. SALLYPORT_WRITE_DOCS=1
 * writes what was answered into the page.
 */
export const typePage = async (t: Test, path: string, reader: Reader): Promise<void> => {
  const page = readFileSync(path, 'utf8')
  const asked = exchanges(page)
  const spoken = (await spokenBy(page, reader)).filter(({ how }) => how.unrun === undefined)
  t.ok(asked.length + spoken.length > 0, `${path} has something to type`)
  const all = (await typed(t, reader, [
    ...asked.map((one) => one.typed),
    ...spoken.map(({ line, how }) => told(line, how)),
  ])).map((answer) => formed(answer, reader))
  const answers = all.slice(0, asked.length)
  t.strictSame(answers, asked.map(({ answer }) => answer?.text ?? ''), path)
  for (const [at, { line, how }] of spoken.entries()) {
    t.equal(all[asked.length + at], `exit ${how.exit ?? 0}\n`, `${path}: ${line}`)
  }
  if (process.env['SALLYPORT_WRITE_DOCS'] !== '1') return
  const written = asked.reduceRight((rest, { answer }, place) => answer === null
    ? rest : rest.slice(0, answer.from) + (answers[place] ?? '') + rest.slice(answer.to), page)
  writeFileSync(path, written)
}

/** Types the blocks of a page from a heading on, whatever they answer: none of them may fail. */
export const typeFrom = async (
  t: Test, path: string, heading: string, reader: Reader,
): Promise<void> => {
  const page = readFileSync(path, 'utf8')
  const at = page.indexOf(`\n## ${heading}\n`)
  const blocks = exchanges(page.slice(at)).map((one) => one.typed)
  t.ok(at > 0 && blocks.length > 0, `${path} has ${heading} with something to type`)
  const before = `set -eo pipefail\n${reader.before ?? ''}`
  const answers = await typed(t, { ...reader, before }, [...blocks, 'echo all\n'])
  t.strictSame([answers.length, answers.at(-1)], [blocks.length + 1, 'all\n'], answers.join('\n'))
}

/** A home of its own with nothing in it. */
export const newcomer = (t: Test): Reader => {
  const cwd = join(t.testdir({ home: {} }), 'home')
  return { cwd, env: { HOME: cwd, TZ: noonZone().name } }
}
