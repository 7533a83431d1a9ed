/** The stage of stored analyses behind rows, and of a gateway that says what a test wants. */
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { isoFromMs } from '../../src/base/clock.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { nowIso } from '../../src/governance/context.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import { shotLabels } from '../../src/shots/constants.js'
import { digestCollections, type Episode } from '../../src/shots/digest/digest-rows.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import { shotCollections, type Observation, type PayloadRef }
  from '../../src/shots/observations/observation-rows.js'
import { observationOf, payloadRefOf } from '../support/observations.js'
import type { Ran } from './place.js'
import type { AnalysisWorld } from './world.js'

const windowMs = 30 * 60_000

// Read once: a test that runs on into the next window goes on speaking of the same ones.
const currentStartMs = Math.floor(Date.now() / windowMs) * windowMs

/** Begin of a whole window, so many windows before the one in which the process began; ms. */
export const windowStart = (back: number): number => currentStartMs - back * windowMs

/** ISO text: so many minutes into the window that began `back` windows before this one. */
export const moment = (back: number, minutes = 0): string =>
  isoFromMs(windowStart(back) + minutes * 60_000)

/** How a reply of the gateway differs from a good one. */
export interface Said {
  readonly model?: string
  readonly provider?: string
  readonly finish?: string
  /** US dollars as the reply writes them; null leaves the cost out. */
  readonly cost?: string | null
  /** Requests that pass before it; several answers that wait need different numbers. */
  readonly after?: number
}

const replyBody = (text: string, { model, provider, finish, cost = '0.0002' }: Said): string => {
  const usage = cost === null ? '{}' : `{"cost":${cost}}`
  const rest = JSON.stringify({
    id: 'gen-1', model: model ?? 'acme/report-1-2026-01-15', provider: provider ?? 'Acme Host',
    choices: [{
      index: 0, finish_reason: finish ?? 'stop', message: { role: 'assistant', content: text },
    }],
  })
  return `${rest.slice(0, -1)},"usage":${usage}}`
}

/** The part of a row and its analysis that a test chooses. */
export interface Analysed {
  readonly name: string
  readonly at: string
  /** Members of the stored analysis. */
  readonly says?: Readonly<Record<string, unknown>>
  readonly row?: Partial<Observation>
  readonly payload?: Partial<PayloadRef>
}

/** Ways to put analyses there, and to be answered. */
export interface Texts {
  /** Puts rows with a sealed analysis; gives them as they were put. */
  analysed(...rows: readonly Analysed[]): Promise<Observation[]>
  /** A new analysis for a row, as a reanalysis would leave it. */
  reanalysed(row: Observation, says: Readonly<Record<string, unknown>>): Promise<void>
  /** Changes a row through its one writer. */
  change(id: string, change: Partial<Observation>): Promise<void>
  /** The gateway's next answer, to one request. */
  say(text: string, how?: Said): void
  /** Requests that were not proofs. */
  asked(): readonly SeenRequest[]
  /** `shots digest --json` with these flags. */
  digest(...flags: string[]): Promise<Ran>
  episodes(): Episode[]
}

const analysisOf = (one: Analysed): Record<string, unknown> => ({
  schema: shotLabels.payload, summary: `The screen shows ${one.name}.`, ...one.says,
})

const put = async (
  world: AnalysisWorld, rows: readonly { row: Observation; says: Record<string, unknown> }[],
): Promise<Observation[]> => {
  const { gov } = world.ctx('write')
  const { store } = gov
  const stored = rows.map(({ row, says }) => {
    const bytes = Buffer.from(canonicalJson(says))
    return { row, bytes, ref: store.artifacts.write(shotLabels.payload, bytes) }
  })
  const done = await store.transact('test', (tx) => stored.map(({ row, bytes, ref }) => {
    const artifact = registerArtifact(tx, nowIso(gov), {
      label: shotLabels.payload, ref, owner: 'prn_test', taskId: null, adopted: true,
    })
    const payload = { artifact_id: artifact.artifact_id, sha256: sha256Hex(bytes) }
    const whole: Observation = {
      observed_revision: policyHead(tx).revision, ...row,
      payload: { ...payloadRefOf(), ...row.payload, ...payload },
    }
    putObservation(tx, nowIso(gov), whole)
    return whole
  }))
  store.close()
  return done
}

/** Texts; requests until now are not among those that were asked. */
export const texts = (world: AnalysisWorld): Texts => {
  const before = new Set(world.calls())
  return {
    analysed: (...rows) => put(world, rows.map((one) => ({
      says: analysisOf(one),
      row: observationOf(world.folder, one.name, {
        captured_at: one.at, analysis_status: 'succeeded', ...one.row,
        payload: payloadRefOf({ analyzed_at: one.at, ...one.payload }),
      }),
    }))),
    reanalysed: async (row, says) => {
      const name = row.paths[0]?.name.text ?? ''
      await put(world, [{ row, says: analysisOf({ name, at: row.captured_at, says }) }])
    },
    change: async (id, change) => {
      const { gov } = world.ctx('write')
      await gov.store.transact('test', (tx) => {
        const row = tx.get(shotCollections.observations, id)
        if (row !== undefined) putObservation(tx, nowIso(gov), { ...row, ...change })
      })
      gov.store.close()
    },
    say: (text, how = {}) =>
      world.sandbox.faults.reply({ body: replyBody(text, how) }, {
        service: 'gateway', times: 1, after: how.after ?? 0,
      }),
    asked: () => world.calls().filter((call) => !before.has(call)),
    digest: (...flags) => world.run(['shots', 'digest', '--json', ...flags]),
    episodes: () => world.view().all(digestCollections.episodes).map(({ doc }) => doc),
  }
}
