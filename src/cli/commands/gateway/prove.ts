import * as v from 'valibot'
import { fail } from '../../../base/errors.js'
import { gravest } from '../../../base/outcome.js'
import { gatewayContext } from '../../../fabric/places.js'
import { slotNames, type SlotName } from '../../../gateway/constants.js'
import type { ProofResult } from '../../../gateway/prove.js'
import { gatewayReceiptLine, gatewayReceiptShape } from '../../../gateway/receipt.js'
import type { Gov } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import type { VerbDeps } from '../../bound.js'
import { clientOf } from '../../client.js'
import { Degraded } from '../../../base/contract.js'
import { loginToMutate } from '../../mutate.js'
import type { View } from '../../output.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Arguments and flags of `gateway prove`. */
export interface ProveOptions {
  readonly slot?: string
  readonly all?: boolean
  readonly ifStale?: boolean
}

const provedShape = v.strictObject({
  slot: v.picklist(slotNames),
  made: v.boolean(),
  proof_id: v.string(),
  made_at: v.string(),
  reply_model: v.string(),
  reply_provider: v.string(),
  cost_microusd: v.number(),
  receipt: gatewayReceiptShape,
})
type Proved = v.InferOutput<typeof provedShape>

const entryShape = v.union([
  v.strictObject({ ok: v.literal(true), ...provedShape.entries }),
  v.strictObject({
    ok: v.literal(false), slot: v.picklist(slotNames), code: v.string(),
    reason: v.nullable(v.string()), message: v.string(),
  }),
])
type Entry = v.InferOutput<typeof entryShape>

const schema = v.union([provedShape, v.array(entryShape)])
/** Result of `gateway prove`: one proof, or with `--all` one entry for each slot that is set. */
export type ProveResult = Proved | Entry[]

const factsOf = ({ slot, made, proof, receipt }: ProofResult): Proved => ({
  slot, made, proof_id: proof.proof_id, made_at: proof.made_at, reply_model: proof.reply_model,
  reply_provider: proof.reply_provider, cost_microusd: proof.cost_microusd, receipt,
})

const provedLine = (one: Proved, view: View): string => {
  const names = view.foreign(`${one.reply_model} by ${one.reply_provider}`)
  const how = one.made ? 'proved' : 'already current'
  return `${one.slot}: ${how}, ${names}, ${one.cost_microusd} micro-USD`
}

const entryLine = (entry: Entry, view: View): string =>
  entry.ok ? provedLine(entry, view) : `${entry.slot}: ${entry.code}: ${entry.message}`

const text: VerbDefinition<ProveResult>['text'] = (result, view) => {
  const lines = Array.isArray(result)
    ? result.map((entry) => entryLine(entry, view)) : [provedLine(result, view)]
  const receipts = Array.isArray(result)
    ? result.flatMap((entry) => (entry.ok && entry.made ? [entry.receipt] : []))
    : result.made ? [result.receipt] : []
  return {
    out: lines.map((line) => `${line}\n`).join(''), notes: receipts.map(gatewayReceiptLine),
  }
}

const definition: VerbDefinition<ProveResult> = {
  meta: {
    name: 'gateway prove',
    summary: 'prove a slot with one small paid request',
    description:
      'Sends one synthetic request through the exact route of a slot, reads its charge from the '
      + 'reply and keeps what model and provider called themselves. A proof is bound to model, '
      + 'upstream list, key and prompt, and is stale after 24 hours. With --if-stale nobody is '
      + 'contacted while the proof is current, and an attempt that failed or is uncertain is not '
      + 'repeated.',
    examples: [
      '$ sallyport gateway prove chat',
      '$ sallyport gateway prove report --if-stale --json',
      '$ sallyport gateway prove --all --if-stale',
    ],
    session: 'required',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'blocked', 'budget', 'remote', 'no_state',
      'locked', 'damaged',
    ],
    json: { version: 1, schema },
  },
  flags: (command) => command
    .argument('[slot]', 'chat, report or screenshot')
    .option('--all', 'every slot that is set; one failure does not stop the others')
    .option('--if-stale', 'only when there is no current proof'),
  text,
}

const slotOf = (text: string): SlotName => {
  const slot = slotNames.find((name) => name === text)
  if (slot !== undefined) return slot
  throw fail.rejected(
    'slot_unknown', `A slot is one of ${slotNames.join(', ')}.`, { details: { field: 'slot' } },
  )
}

const proveEvery = async (
  deps: VerbDeps, parts: Awaited<ReturnType<typeof loginToMutate>>, ifStale: boolean,
): Promise<Entry[]> => {
  const { proveAll } = await import('../../../gateway/prove.js')
  const done = await proveAll(contextOf(deps, parts.gov), parts.session, { ifStale })
  const entries = done.map((entry): Entry => (entry.ok
    ? { ok: true, ...factsOf(entry) }
    : {
      ok: false, slot: entry.slot, code: entry.error.code, reason: entry.error.reason,
      message: entry.error.message,
    }))
  const worst = gravest(done.flatMap((entry) => (entry.ok ? [] : [entry.error])))
  if (worst !== null) throw new Degraded(entries, worst)
  return entries
}

const contextOf = (deps: VerbDeps, gov: Gov) => gatewayContext(gov, {
  client: clientOf(deps, deploymentProfile(gov.store)), signal: deps.stop,
})

/** Proves. */
export const run: Run<ProveOptions, ProveResult> = async (options, deps) => {
  const { slot, all = false, ifStale = false } = options
  if (all === (slot !== undefined)) {
    throw fail.usage('one_slot', 'Name one slot, or give --all.')
  }
  const wanted = slot === undefined ? null : slotOf(slot)
  const parts = await loginToMutate(deps)
  if (wanted === null) return proveEvery(deps, parts, ifStale)
  const { proveSlot } = await import('../../../gateway/prove.js')
  const context = contextOf(deps, parts.gov)
  return factsOf(await proveSlot(context, parts.session, { slot: wanted, ifStale }))
}

/** Parses a line of `gateway prove`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
