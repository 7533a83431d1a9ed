/**
 * Runs the table of one order, compares each cell with the rule and the whole with its section of
 * docs/dev/interrupts.md. With SALLYPORT_WRITE_INTERRUPTS=1 the section is written instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { slice } from '../../support/slice.js'
import type { Ran } from '../../world/place.js'
import { benchOf, seen, stepsOf, type Bench } from './cell.js'
import type { TableOrder } from './orders.js'
import {
  endings, expected, interrupts, phaseOf, textOf, writeWaits, type Interrupt,
} from './rule.js'

const page = join(process.cwd(), 'docs/dev/interrupts.md')
const writes = process.env['SALLYPORT_WRITE_INTERRUPTS'] === '1'

const tableOf = ({ name, table = name }: TableOrder): string => table
const begin = (order: TableOrder): string => `<!-- table of ${tableOf(order)} -->`
const end = (order: TableOrder): string => `<!-- end of ${tableOf(order)} -->`

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** No moment of the process itself: its last check and the write are one act. */
const ofProcess: readonly Interrupt[] = ['signal', 'second signal', 'deadline', 'kill']

const withGap = (steps: readonly string[]): string[] =>
  steps.flatMap((step) => (step === 'before_first_byte' ? [step, writeWaits] : [step]))

const labelOf = (step: string): string =>
  phaseOf(step) === 'sent' && !/^[a-z_0-9]+$/.test(step) ? `*${step}*` : `\`${step}\``

/** Steps behind each other that leave the same are one row. */
const rendered = (
  order: TableOrder, rows: ReadonlyMap<string, readonly string[]>,
): string => {
  const printed: { steps: string, cells: string }[] = []
  for (const [step, all] of rows) {
    const cells = all.join(' | ')
    const last = printed.at(-1)
    if (last?.cells === cells) last.steps += `, ${labelOf(step)}`
    else printed.push({ steps: labelOf(step), cells })
  }
  return [
    begin(order), row(['step', ...interrupts]), row(['step', ...interrupts].map(() => '---')),
    ...printed.map(({ steps, cells }) => row([steps, cells])),
    end(order),
  ].join('\n')
}

const sectionOf = (text: string, order: TableOrder): [number, number] => {
  const from = text.indexOf(begin(order))
  const to = text.indexOf(end(order))
  if (from < 0 || to < from) throw new Error(`${page} has no table of ${order.name}`)
  return [from, to + end(order).length]
}

/** The steps of an order, as the page has them. */
export const rowsOf = (order: TableOrder): readonly string[] => {
  const text = readFileSync(page, 'utf8')
  return [...text.slice(...sectionOf(text, order)).matchAll(/^\| ([`*].+?[`*]) \|/gm)]
    .flatMap(([, steps = '']) => steps.split(', ').map((step) => step.slice(1, -1)))
}

const requireSection = (t: Test, order: TableOrder, section: string): void => {
  const text = readFileSync(page, 'utf8')
  const [from, to] = sectionOf(text, order)
  if (writes) writeFileSync(page, text.slice(0, from) + section + text.slice(to))
  else t.equal(text.slice(from, to), section, `docs/dev/interrupts.md: the table of ${order.name}`)
}

/** The last act of a process that left something unknown is to say so, naming the operation. */
const requireLastWords = (t: Test, ran: Ran): void => {
  t.equal(ran.status, 130)
  t.equal(ran.stdout, '')
  const { code, reason, details } = ran.error()
  t.hasStrict({ code, reason }, { code: 'interrupted', reason: 'outcome_not_recorded' })
  t.match(details.operation_id, /^op_/)
}

/** Whether processes are ended at a step; what they leave is told by its phase, not by the step. */
export const isEnded = (order: TableOrder, steps: readonly string[], at: number): boolean => {
  if (order.ended === 'every step') return true
  const phases = steps.map(phaseOf)
  return phases[at - 1] !== phases[at] || phases[at + 1] !== phases[at]
}

/** Whether a cell is run. */
const isRun = (
  order: TableOrder, steps: readonly string[], at: number, interrupt: Interrupt,
): boolean => !endings.includes(interrupt) || isEnded(order, steps, at)

/** A place in the table where an order is really interrupted. */
interface Place {
  readonly step: string
  readonly interrupt: Interrupt
}

const axesOf = ({ step, interrupt }: Place): readonly string[] => [interrupt, step]

const idOf = (order: TableOrder, place: Place): string =>
  [order.name, ...axesOf(place)].join('/')

/** What a place of the table holds where nothing is run: it does not apply, or others tell it. */
const unrun = (
  order: TableOrder, steps: readonly string[], at: number, interrupt: Interrupt,
): string | null => {
  const step = steps[at]!
  const wanted = expected(order, step, interrupt)
  if (wanted === null) return textOf(null)
  if (step === writeWaits && ofProcess.includes(interrupt)) return ''
  return isRun(order, steps, at, interrupt) ? null : `(${textOf(wanted)})`
}

/** Runs one cell, holds it to the rule and gives how it reads. */
const proveCell = async (t: Test, bench: Bench, { step, interrupt }: Place): Promise<string> => {
  const { order } = bench
  const { outcome, ran } = await seen(bench, step, interrupt)
  t.strictSame(outcome, expected(order, step, interrupt), idOf(order, { step, interrupt }), {
    status: ran.status, stderr: ran.stderr,
  })
  if (interrupt === 'second signal' && outcome.end === 'unknown') requireLastWords(t, ran)
  return textOf(outcome)
}

/**
 * Interrupts at the steps of one order, every one or a slice of them. The page holds what was seen;
 * of what is not run now, what the rule says.
 */
export const proveTable = async (t: Test, order: TableOrder): Promise<void> => {
  const bench = await benchOf(t, order)
  const steps = withGap(await stepsOf(bench))
  const places = steps.flatMap((step, at) => interrupts
    .filter((interrupt) => unrun(order, steps, at, interrupt) === null)
    .map((interrupt) => ({ step, interrupt })))
  const found = new Map<string, string>()
  for (const place of slice(order.name, places, { axesOf })) {
    found.set(idOf(order, place), await proveCell(t, bench, place))
  }
  const rows = new Map(steps.map((step, at) => [step, interrupts.map((interrupt) =>
    found.get(idOf(order, { step, interrupt })) ?? unrun(order, steps, at, interrupt)
      ?? textOf(expected(order, step, interrupt)))]))
  if (writes && found.size < places.length) throw new Error('only what was all seen is written')
  requireSection(t, order, rendered(order, rows))
}
