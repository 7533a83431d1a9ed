/**
 * Runs the table of one order, compares each cell with the rule and the whole with its section of
 * docs/interrupts.md. With SALLYPORT_WRITE_INTERRUPTS=1 the section is written instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Ran } from '../../world/place.js'
import { benchOf, seen, stepsOf } from './cell.js'
import type { TableOrder } from './orders.js'
import {
  endings, expected, interrupts, phaseOf, textOf, writeWaits, type Interrupt,
} from './rule.js'

const page = join(process.cwd(), 'docs/interrupts.md')
const writes = process.env['SALLYPORT_WRITE_INTERRUPTS'] === '1'

const begin = (order: TableOrder): string => `<!-- table of ${order.name} -->`
const end = (order: TableOrder): string => `<!-- end of ${order.name} -->`

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** No moment of the process itself: its last check and the write are one act. */
const ofProcess: readonly Interrupt[] = ['signal', 'second signal', 'deadline', 'kill']

const withGap = (steps: readonly string[]): string[] =>
  steps.flatMap((step) => (step === 'before_first_byte' ? [step, writeWaits] : [step]))

const rendered = (
  order: TableOrder, rows: ReadonlyMap<string, readonly string[]>,
): string => [
  begin(order), row(['step', ...interrupts]), row(['step', ...interrupts].map(() => '---')),
  ...[...rows].flatMap(([step, cells]) => [
    row([phaseOf(step) === 'sent' && !/^[a-z_0-9]+$/.test(step) ? `*${step}*` : `\`${step}\``,
      ...cells]),
  ]),
  end(order),
].join('\n')

const sectionOf = (text: string, order: TableOrder): [number, number] => {
  const from = text.indexOf(begin(order))
  const to = text.indexOf(end(order))
  if (from < 0 || to < from) throw new Error(`${page} has no table of ${order.name}`)
  return [from, to + end(order).length]
}

const requireSection = (t: Test, order: TableOrder, section: string): void => {
  const text = readFileSync(page, 'utf8')
  const [from, to] = sectionOf(text, order)
  if (writes) writeFileSync(page, text.slice(0, from) + section + text.slice(to))
  else t.equal(text.slice(from, to), section, `docs/interrupts.md: the table of ${order.name}`)
}

/** The last act of a process that left something unknown is to say so, naming the operation. */
const requireLastWords = (t: Test, ran: Ran): void => {
  t.equal(ran.status, 130)
  t.equal(ran.stdout, '')
  const { code, reason, details } = ran.error()
  t.hasStrict({ code, reason }, { code: 'interrupted', reason: 'outcome_not_recorded' })
  t.match(details.operation_id, /^op_/)
}

/** Whether a cell is run; what a killed process leaves is told by its phase, not by its step. */
const isRun = (
  order: TableOrder, steps: readonly string[], at: number, interrupt: Interrupt,
): boolean => {
  if (order.ended === 'every step' || !endings.includes(interrupt)) return true
  const phases = steps.map(phaseOf)
  return phases[at - 1] !== phases[at] || phases[at + 1] !== phases[at]
}

/** Every interrupt at every step of one order. */
export const proveTable = async (t: Test, order: TableOrder): Promise<void> => {
  const bench = await benchOf(t, order)
  const rows = new Map<string, string[]>()
  const steps = withGap(await stepsOf(bench))
  for (const [at, step] of steps.entries()) {
    const cells: string[] = []
    for (const interrupt of interrupts) {
      const wanted = expected(order, step, interrupt)
      if (wanted === null) {
        cells.push(textOf(null))
        continue
      }
      if (step === writeWaits && ofProcess.includes(interrupt)) {
        cells.push('')
        continue
      }
      if (!isRun(order, steps, at, interrupt)) {
        cells.push(`(${textOf(wanted)})`)
        continue
      }
      const { outcome, ran } = await seen(bench, step, interrupt)
      t.strictSame(outcome, wanted, `${order.name}: ${interrupt} at ${step}`, {
        status: ran.status, stderr: ran.stderr,
      })
      if (interrupt === 'second signal' && outcome.end === 'unknown') requireLastWords(t, ran)
      cells.push(textOf(outcome))
    }
    rows.set(step, cells)
  }
  requireSection(t, order, rendered(order, rows))
}
