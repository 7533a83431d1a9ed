/** Compares every cell of some routes with the table. */
import type { Test } from 'tap'
import { checkLedger } from '../ledger.js'
import { slice } from '../slice.js'
import {
  cellsOf, events, moments, routes, type Became, type EventOfTable, type RouteOfTable, type Sides,
} from './consent-cells.js'
import { shares, table } from './consent-table.js'

/** What a word of the table means on the wire and in the ledger. */
const meaning = {
  adopted: { requests: 1, charged: true }, dropped: { requests: 1, charged: true },
  held: { requests: 1, charged: true }, refused: { requests: 0, charged: false },
} as const

const wordOf = (outcome: string): keyof typeof meaning => {
  const [word = ''] = outcome.split(':')
  if (Object.hasOwn(meaning, word)) return word as keyof typeof meaning
  throw new Error(`the table has no word ${word}`)
}

const expected = (outcome: string, { settled }: Became): Became => {
  const { requests, charged } = meaning[wordOf(outcome)]
  return { outcome, requests, settled: charged ? Math.max(settled, 1) : 0, held: 0 }
}

/** Runs the cells of these routes in one world, or on two machines. */
export const checkRoutes = async (
  t: Test, { share, title, sides, table: of = '' }: {
    readonly share: keyof typeof shares
    readonly title: string
    readonly sides?: Sides
    /** Goes before the name of a route where the same routes are run twice. */
    readonly table?: string
  },
): Promise<void> => {
  const { run, rig } = await cellsOf(t, sides)
  const names = Object.keys(events) as EventOfTable[]
  for (const route of shares[share] as readonly RouteOfTable[]) {
    await t.test(`${title}: ${route}`, async (t) => {
      const cells = names.flatMap((event) => moments.map((when, at) => ({ event, when, at })))
      for (const { event, when, at } of slice(`${of}${route}`, cells, {
        axesOf: (one) => [one.event, one.when],
      })) {
        const outcome = table[route][event][at]
        if (outcome === undefined) throw new Error(`no cell: ${route}, ${event}, ${when}`)
        const became = await run(route, event, when)
        t.strictSame(became, expected(outcome, became), `${event}, ${when}`)
        checkLedger(t, rig)
      }
    })
  }
}

/** Routes that no file of tests runs, and words of the table that are no route or event. */
export const missing = (): readonly string[] => {
  const run: readonly string[] = Object.values(shares).flat()
  const wanted = Object.keys(events)
  const lacking = routes.flatMap((route) => wanted
    .filter((event) => table[route]?.[event as EventOfTable]?.length !== moments.length)
    .map((event) => `${route}: ${event}`))
  return [...routes.filter((route) => !run.includes(route)), ...lacking]
}
